"""What every test may use: the command line as a user has it, a tiny benchmark, the real engine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from PIL import Image, ImageDraw

from tests.command_server import FIELDMARK as FIELDMARK
from tests.command_server import CommandServer, run_anew

# The same examples every time: a test that fails once in a while convinces nobody. More of them, drawn anew:
# FIELDMARK_TEST_EXAMPLES=5000 pytest -k properties
_MORE = int(os.environ.get("FIELDMARK_TEST_EXAMPLES", "0"))
hypothesis.settings.register_profile(
    "fieldmark", max_examples=_MORE or 100, derandomize=not _MORE, deadline=None, database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)  # fmt: skip
hypothesis.settings.load_profile("fieldmark")

Fieldmark = Callable[..., "subprocess.CompletedProcess[str]"]
RunCommand = Callable[..., "subprocess.CompletedProcess[str]"]
"""Of `command_server`: (arguments, cwd, env, timeout, told the pid)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with containers first: they take longest, and two workers that end with them end apart.

    `make test` leaves out what is marked `crash`; `make test-crash` runs it.
    """
    long = {item.path for item in items if "sandbox_image" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in long)
    if not os.environ.get("FIELDMARK_TEST_CRASH"):
        skip = pytest.mark.skip(reason="make test-crash runs it")
        for item in items:
            if item.get_closest_marker("crash"):
                item.add_marker(skip)


OWNERS = {os.getpid()}
"""Processes that this test session started and that may own containers."""


def without_probe(command: list[str]) -> list[str]:
    """A scripted model plays its replies in order: no probe takes the first, unless a test says --probe."""
    if command[1:2] == ["run"] and not {"--resume", "--probe", "--no-probe"} & set(command):
        return [*command[:2], "--no-probe", *command[2:]]
    return command


def spawn(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start a command whose containers `ours` then knows."""
    process = subprocess.Popen(
        without_probe(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    OWNERS.add(process.pid)
    return process


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests name (`fieldmark/trust.py`) is not what this user has named."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def run_command() -> Iterator[RunCommand]:
    """Run a command, waited for: as a fork, or where FIELDMARK_TEST_EXEC is set started anew."""
    if os.environ.get("FIELDMARK_TEST_EXEC"):
        yield run_anew
        return
    server = CommandServer()
    yield server.run
    server.close()


@pytest.fixture
def fieldmark(tmp_path: Path, run_command: RunCommand) -> Fieldmark:
    """`fieldmark("run", "--limit", "1")` in an empty folder."""

    def run(*arguments: object, env: dict[str, str] | None = None, timeout: float = 240) -> Any:
        command = without_probe([FIELDMARK, *map(str, arguments)])
        return run_command(command[1:], tmp_path, {**os.environ, **(env or {})}, timeout, OWNERS.add)

    return run


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A benchmark of four coloured squares: `tasks.jsonl` and its pictures."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    rows = []
    for name in ("red", "green", "blue", "white"):
        picture = Image.new("RGB", (400, 300), name)
        ImageDraw.Draw(picture).rectangle((20, 20, 60, 60), fill="black")
        picture.save(folder / f"{name}.png")
        question = "Which colour fills this picture? Be as specific as possible."
        gold = {"answer": f"{name} colour", "aliases": [name], "source": "drawn"}
        labels = {"split": "drawn", "top": "Product", "mid": "Square"}
        rows.append(
            {
                "id": f"square-{name}",
                "question": question,
                "image": f"{name}.png",
                "gold": gold,
                "labels": labels,
            }
        )
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "tasks.jsonl"


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    """The real Docker engine."""
    from fieldmark.sandbox.engine import connect

    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="session")
def sandbox_image(engine: Any) -> str:
    """The current sandbox image, built when it is not there."""
    from fieldmark.sandbox import image

    return image.build(engine, print)


@pytest.fixture
def nothing_left(engine: Any) -> Iterator[None]:
    """After the test, no container of ours is left that was not there before."""
    before = ours(engine)
    yield
    assert ours(engine) <= before


def ours(engine: Any, *, running: bool = False) -> set[str]:
    """Ids of the containers, or of the running ones, that processes of this test session own or owned."""
    from fieldmark.sandbox.container import OWNER_LABEL

    containers = engine.api.containers(all=not running, filters={"label": OWNER_LABEL})
    return {c["Id"] for c in containers if int(c["Labels"][OWNER_LABEL].partition(":")[0]) in OWNERS}
