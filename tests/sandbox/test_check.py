"""`sandbox check`: every promise holds in a container of ours; each probe fails where it does not."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fieldmark.needs import Needs
from fieldmark.sandbox import check
from fieldmark.sandbox import container as spec
from fieldmark.sandbox.check import PROBES, run_checks
from fieldmark.sandbox.reaper import remove

MANY_FILES = [{"name": "nofile", "soft": 20_000, "hard": 20_000}]
PROBE = (files("fieldmark.sandbox") / "probe.py").read_text(encoding="utf-8")


def test_every_promise_holds(engine: Any, sandbox_image: str) -> None:
    problems = dict(run_checks(engine, sandbox_image, ["Boeing 737 MAX 8", "The Starry Night"]))
    assert {name: problem for name, problem in problems.items() if problem} == {}
    assert set(problems) == {*PROBES, "memory limit bites", "no gold in the image"}


def run_inside(engine: Any, container: str, command: list[str], user: str = "") -> str:
    made = engine.api.exec_create(container, command, user=user)
    return str(engine.api.exec_start(made["Id"]).decode("utf-8", "replace")).strip()


@pytest.fixture(scope="module")
def weak(engine: Any, sandbox_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same image as a careless container: root, writable, networked, unfiltered, `/proc/sys` open, with a
    secret and a foreign socket.
    """
    door = tmp_path_factory.mktemp("door")
    for name in ("gateway.sock", "neighbour.sock"):
        socket.socket(socket.AF_UNIX).bind(str(door / name))
    host = engine.api.create_host_config(
        binds={str(door): {"bind": spec.SOCKET_FOLDER, "mode": "rw"}},
        security_opt=["seccomp=unconfined"],
        ulimits=MANY_FILES,
    )
    host |= {"MaskedPaths": [], "ReadonlyPaths": []}
    made = engine.api.create_container(
        sandbox_image, ["sleep", "300"], user="0", host_config=host, environment={"OPENAI_API_KEY": "sk-x"},
        labels={spec.LABEL: "test"},
    )  # fmt: skip
    engine.api.start(made["Id"])
    yield made["Id"]
    remove(engine, made["Id"])


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        ("non_root", "runs as root"),
        ("read_only_root", "can be written"),
        ("no_capabilities", "CapEff"),
        ("no_new_privileges", "not set"),
        ("seccomp_filter", "let through: AF_VSOCK"),
        ("kernel_not_writable", "/proc/sys/kernel/core_pattern can be written"),
        ("temporary_space_bounded", "over 256 MB"),
        ("open_files_bounded", "10000 files"),
        ("no_network_route", "eth0"),
        ("gateway_reachable", "refused"),
        ("socket_folder_not_writable", "a file can be made"),
        ("no_other_socket", "neighbour.sock"),
        ("pid_limit_bites", "2000 processes"),
        ("no_secret_in_environment", "OPENAI_API_KEY"),
    ],
)
def test_a_probe_fails_where_the_promise_does_not_hold(engine: Any, weak: str, probe: str, says: str) -> None:
    assert says in run_inside(engine, weak, [spec.PYTHON, "-c", PROBE, probe])


def test_the_calls_that_need_no_privilege_are_found_out_where_nothing_filters_them(
    engine: Any, weak: str
) -> None:
    said = run_inside(engine, weak, [spec.PYTHON, "-c", PROBE, "seccomp_filter"])
    for name in ("keyctl", "io_uring_setup", "ptrace", "process_vm_readv", "vmsplice", "clone3", "kcmp"):
        assert name in said


@pytest.fixture
def sealed(engine: Any, sandbox_image: str, tmp_path: Path) -> Iterator[str]:
    """A container made like any other, with an empty door."""
    host = engine.api.create_host_config(**spec.host_options(tmp_path, Needs(), {}))
    options = spec.create_options(sandbox_image, ["sleep", "300"], "test", 300)
    made = engine.api.create_container(host_config=host, **options)
    engine.api.start(made["Id"])
    yield made["Id"]
    remove(engine, made["Id"])


def test_no_port_of_the_host_and_no_other_container_answers(engine: Any, sealed: str, weak: str) -> None:
    neighbour = engine.api.inspect_container(weak)["NetworkSettings"]["Networks"]["bridge"]["IPAddress"]
    own = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
    with socket.create_server(("0.0.0.0", 0)) as listening:
        port = listening.getsockname()[1]
        addresses = [address for address in [*own, "172.17.0.1", neighbour] if ":" not in address]
        code = (
            "import socket, sys\n"
            "for address in sys.argv[2:]:\n"
            "    try: socket.create_connection((address, int(sys.argv[1])), 2); print(address, 'answers')\n"
            "    except OSError: pass\n"
        )
        assert run_inside(engine, sealed, [spec.PYTHON, "-c", code, str(port), *addresses, "127.0.0.1"]) == ""
        # the same attempt from an ordinary container does get through: the test can fail
        assert "172.17.0.1 answers" in run_inside(
            engine, weak, [spec.PYTHON, "-c", code, str(port), *addresses]
        )


def test_the_docker_socket_is_not_there(engine: Any, sealed: str) -> None:
    listed = run_inside(engine, sealed, ["sh", "-c", "ls /var/run/docker.sock /run/docker.sock 2>&1"])
    assert listed.count("No such file") == 2


def test_a_probe_that_never_ends_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check, "PROBE_SECONDS", 0.05)
    assert check.in_time(lambda: None) is None
    assert check.in_time(lambda: "wrong") == "wrong"
    assert check.in_time(lambda: str(threading.Event().wait(5))) == check.HUNG
    with pytest.raises(OSError, match="gone"):
        check.in_time(_raises)


def _raises() -> str:
    raise OSError("gone")
