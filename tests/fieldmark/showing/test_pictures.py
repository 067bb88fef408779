"""Pictures in the terminal: the real command on a real pty, whose other side answers as terminals do."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from fieldmark.commands.show import command
from fieldmark.rundir import RunDir
from tests.evals.conftest import RunBuilder

DRAWS = re.compile(rb"\x1bP[0-9;]*q|\x1b_G[^;\x1b]*m=0,f=100[^;\x1b]*;")
ASKED = re.compile(rb"\x1b\[5n|\x1b\[c|\x1b\[16t|\x1b_G[^\x1b]*a=q[^\x1b]*\x1b\\")
SIXEL, KITTY, PLAIN, MUTE = "sixel", "kitty", "plain", "mute"


@pytest.fixture
def folder(tmp_path: Path) -> RunDir:
    """An episode with the picture of its task, and a crop that two results return."""
    builder = RunBuilder(tmp_path / "run").task("plane")
    store = builder.folder.blob_store()
    told = []
    for color in ("red", "blue"):
        file = tmp_path / f"{color}.png"
        Image.new("RGB", (64, 48), color).save(file)
        blob = store.put(file.read_bytes(), "image/png")
        told.append({"blob": blob, "media_type": "image/png", "width": 64, "height": 48})
    episode = builder.episode("plane", verdict="incorrect").event(
        "runner", "episode_start", version="0", run="run", id="plane", epoch=0, attempt=0, agent="react",
        model="scripted", image=told[0], view=told[0], prompt_sha256="0", limits={},
    )  # fmt: skip
    for call in ("c1", "c2"):
        crop = {**told[1], "of": told[0]["blob"], "box": [1, 2, 30, 20]}
        episode.event(
            "sandbox", "tool_result", call=call, ok=True, seconds=0.1, text="Shown.", pictures=[crop]
        )
    return builder.finish()


def answer(kind: str, question: bytes) -> bytes:
    """What a terminal of a kind says; `plain` is one that does not draw."""
    if kind == MUTE:
        return b""
    if question == b"\x1b[5n":
        return b"\x1b[0n"
    if question == b"\x1b[c":
        return b"\x1b[?62;4;22c" if kind == SIXEL else b"\x1b[?62;22c"
    if question == b"\x1b[16t":
        return b"\x1b[6;20;10t"
    return b"\x1b_Gi=1;OK\x1b\\" if kind == KITTY else b""


def on_a_pty(
    command: list[str],
    *,
    kind: str,
    term: str = "xterm-256color",
    size: tuple[int, int] = (40, 100),
    late: float = 0.0,
    typed: bytes = b"",
) -> tuple[bytes, bytes]:
    """What Python wrote, and what of its input it left for the shell. `late`: seconds of each answer."""
    ours, theirs = pty.openpty()
    rows, columns = size
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, columns * 10, rows * 20))
    os.write(ours, typed)
    environment = {key: value for key, value in os.environ.items() if key not in ("COLORTERM", "COLUMNS")}
    run = subprocess.Popen(
        [sys.executable, "-c", LEADER, sys.executable, *command], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**environment, "TERM": term}, start_new_session=True,
    )  # fmt: skip
    written, seen, deadline = b"", 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.02)[0]:
            written += os.read(ours, 65536)
            for found in ASKED.finditer(written, seen):
                seen = found.end()
                time.sleep(late)
                os.write(ours, answer(kind, found[0]))
        elif run.poll() is not None:
            break
    assert run.wait(5) == 0, written
    left = _waiting(theirs)
    os.close(theirs)
    os.close(ours)
    return written, left


def _waiting(terminal: int) -> bytes:
    """What was put in and nobody has read."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ICANON
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    return os.read(terminal, 4096) if select.select([terminal], [], [], 0)[0] else b""


def shown(folder: RunDir, *options: str) -> list[str]:
    """The command, as Python is called for it."""
    return ["-c", "from fieldmark.cli import main; main()", "show", str(folder.path), "plane", *options]


LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the pty the terminal of the command, as a shell's window is."""


DRAWING = """
from pathlib import Path
from rich.console import Console
from fieldmark.run_reader import RunReader
from fieldmark.showing.pictures import drawing
print("it draws" if drawing(Console(), RunReader(Path("."))) else "lines")
"""


@pytest.mark.parametrize("kind", [SIXEL, KITTY])
def test_a_terminal_that_can_draws_each_picture_once(folder: RunDir, kind: str) -> None:
    for _ in range(3):  # the library waits a tenth of a second: a busy machine may be slower
        written, left = on_a_pty(shown(folder), kind=kind)
        assert left == b""
        if DRAWS.search(written):
            break
    assert len(DRAWS.findall(written)) == 2
    assert b"file " not in written
    assert kind == SIXEL or b"\x1b[38;2;" in written


@pytest.mark.parametrize(("kind", "late"), [(PLAIN, 0), (MUTE, 0), (SIXEL, 0.3)])
def test_of_any_other_no_answer_is_left_to_the_shell(kind: str, late: float) -> None:
    """One that does not draw; one that never answers; a slow line."""
    written, left = on_a_pty(["-c", DRAWING], kind=kind, late=late)
    assert written.endswith(b"lines\r\n")
    assert b"^[" not in written
    assert left == b""


@pytest.mark.parametrize(
    ("term", "size", "typed"),
    [("dumb", (40, 100), b""), ("xterm", (0, 0), b""), ("xterm", (40, 100), b"ls\n")],
)
def test_nothing_is_asked_of_a_dumb_or_odd_one_or_when_something_was_typed(
    term: str, size: tuple[int, int], typed: bytes
) -> None:
    written, left = on_a_pty(["-c", DRAWING], kind=SIXEL, term=term, size=size, typed=typed)
    assert not ASKED.search(written)
    assert written.endswith(b"lines\r\n")
    assert left == typed


def test_a_pipe_gets_the_files(folder: RunDir) -> None:
    text = CliRunner().invoke(command, [str(folder.path), "plane"], catch_exceptions=False).stdout
    assert "\x1b" not in text
    file, again = (line.split()[1] for line in text.splitlines() if line.strip().startswith("file "))
    assert Path(file).read_bytes().startswith(b"\x89PNG")
    assert file == again


def test_the_same_on_a_terminal_where_no_picture_is_wanted(folder: RunDir) -> None:
    written, _ = on_a_pty(shown(folder, "--no-pictures"), kind=SIXEL)
    assert not ASKED.search(written)
    assert written.count(b"file ") == 2
