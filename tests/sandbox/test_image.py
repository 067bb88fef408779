"""The image is real here: built, run under the full hardening line, saved and loaded by the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.sandbox import build_context, engine, image

if TYPE_CHECKING:
    from docker import DockerClient

PROFILE = (Path(image.__file__).parent / "seccomp.json").read_text()
OWNED = "rw,nosuid,nodev,size=64m,uid=10001,gid=10001"
HARDENED: dict[str, Any] = {
    "network_mode": "none",
    "ipc_mode": "none",
    "read_only": True,
    "tmpfs": {"/tmp": "rw,nosuid,nodev,size=256m,mode=1777", "/workspace": OWNED, "/home/agent": OWNED},
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges", f"seccomp={PROFILE}"],
    "pids_limit": 256,
    "mem_limit": "1g",
    "memswap_limit": "1g",
    "init": True,
    "labels": {"fieldmark": "test"},
}


@pytest.fixture(scope="module")
def client() -> Iterator[DockerClient]:
    client = engine.connect()
    yield client
    client.close()


@pytest.fixture(scope="module")
def image_id(client: DockerClient) -> str:
    return image.build(client, print)


def run(client: DockerClient, image_id: str, *command: str) -> str:
    output: bytes = client.containers.run(image_id, list(command), remove=True, stderr=True, **HARDENED)
    return output.decode()


def test_a_current_image_is_not_built_again(client: DockerClient, image_id: str) -> None:
    said: list[str] = []

    assert image.state(client) == "ready"
    assert image.build(client, said.append) == image.require(client) == image_id
    assert said == []


def test_a_change_of_our_files_leaves_the_runtime_alone(client: DockerClient, image_id: str) -> None:
    runtime = client.images.get(image.runtime_tag()).attrs["RootFS"]["Layers"]
    layers = client.images.get(image_id).attrs["RootFS"]["Layers"]

    assert layers[: len(runtime)] == runtime
    assert len(layers) == len(runtime) + 2  # our files, their bytecode


def test_neither_a_young_image_nor_one_in_use_is_outdated(
    client: DockerClient, image_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of other checkouts, which may be in the middle of a run, have other tags and no lock."""
    other = f"{image.REPOSITORY}:{'0' * 12}"
    client.images.get(image.runtime_tag()).tag(other)  # no run uses it while this test does
    monkeypatch.setattr(image, "KEPT", 0)
    monkeypatch.setattr(image, "KEPT_SECONDS", 365 * 24 * 3600)
    wanted = image.tag()
    try:
        assert other not in image._outdated(client, wanted, build_context.PLAIN)
        monkeypatch.setattr(image, "KEPT_SECONDS", 0)
        assert other in image._outdated(client, wanted, build_context.PLAIN)
        container = client.api.create_container(other, ["true"], network_disabled=True)["Id"]
        assert other not in image._outdated(client, wanted, build_context.PLAIN)
        client.api.remove_container(container)
    finally:
        client.images.remove(other)


def test_only_agent_side_files_are_inside(client: DockerClient, image_id: str) -> None:
    listing = run(client, image_id, "find", "/opt/fieldmark", "-type", "f", "-not", "-name", "*.pyc")

    found = {path.removeprefix("/opt/fieldmark/fieldmark/") for path in listing.split()}
    assert found == set(build_context.agent_files())
    assert not {name.split("/")[0] for name in found} & {"evals", "memory", "sandbox", "skills", "tests"}


def test_every_agent_side_module_can_be_imported(client: DockerClient, image_id: str) -> None:
    modules = [name[:-3].replace("/", ".") for name in build_context.agent_files() if name.endswith(".py")]
    names = [f"fieldmark.{name}".removesuffix(".__init__") for name in modules]

    script = f"import importlib\nfor name in {names}: importlib.import_module(name)\nprint('all')"
    assert run(client, image_id, "python", "-c", script) == "all\n"


def test_the_host_s_settings_and_setuid_programs_stay_out(client: DockerClient, image_id: str) -> None:
    script = "ls -d /host /build; find / -xdev -type f -perm /6000 2>/dev/null; ls /var/lib/apt/lists; true"

    assert [
        line for line in run(client, image_id, "sh", "-c", script).splitlines() if "No such" not in line
    ] == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["python", "-c", "import langgraph.graph, cv2, pytesseract; print('imported')"], "imported"),
        (["tesseract", "--list-langs"], "chi_sim"),
        (["chromium", "--headless", "--no-sandbox", "--dump-dom", "data:text/html,<p>hello"], "<p>hello</p>"),
        (["fieldmark", "--version"], "fieldmark"),
        (["id"], "uid=10001(agent)"),
        (["sh", "-c", "pwd; touch /workspace/x ~/x && echo writable"], "/workspace\nwritable"),
        (["sh", "-c", "touch /etc/x || true"], "Read-only file system"),
    ],
)
def test_it_works_under_the_full_hardening(
    client: DockerClient, image_id: str, command: list[str], expected: str
) -> None:
    assert expected in run(client, image_id, *command)


@pytest.mark.parametrize("family", ["AF_VSOCK", "AF_PACKET", "AF_ALG"])
def test_other_socket_families_are_refused(client: DockerClient, image_id: str, family: str) -> None:
    script = f"""
import socket
try:
    socket.socket(socket.{family}, socket.SOCK_STREAM)
except PermissionError:
    print("refused")"""

    assert run(client, image_id, "python", "-c", script) == "refused\n"


def test_usual_socket_families_are_allowed(client: DockerClient, image_id: str) -> None:
    script = """
from socket import *
for family in (AF_UNIX, AF_INET, AF_INET6): socket(family).close()
socket(AF_NETLINK, SOCK_RAW).close()
socketpair()
print("allowed")"""

    assert run(client, image_id, "python", "-c", script) == "allowed\n"


def test_dangerous_calls_are_refused(client: DockerClient, image_id: str) -> None:
    script = """
import ctypes, platform
calls = {
    "x86_64": (425, 323, 278, 250, 311, 101, 321, 298, 165, 308),
    "aarch64": (425, 282, 75, 219, 271, 117, 280, 241, 40, 268),
}
libc = ctypes.CDLL(None, use_errno=True)
for number in calls[platform.machine()]:
    print(libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())"""

    assert set(run(client, image_id, "python", "-c", script).splitlines()) == {"-1 1"}  # EPERM


def test_a_saved_image_can_be_loaded(client: DockerClient, image_id: str, tmp_path: Path) -> None:
    saved = tmp_path / "image.tar"
    try:
        image.save(client, saved)

        assert image.load(client, saved) == image_id
    finally:
        saved.unlink()  # more than 1 GB


def test_loading_something_else_says_what_is_needed(client: DockerClient, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fieldmark sandbox save"):
        image.load(client, tmp_path / "missing.tar")


def test_no_engine_is_one_line_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    with pytest.raises(
        UsageError, match=r"no Docker engine answers at unix:///nowhere/docker\.sock: start it"
    ):
        engine.connect()
