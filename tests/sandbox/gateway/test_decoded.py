"""Decoded pictures on disk: bounded, whole or not there, and gone with the process that held them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fieldmark.sandbox.gateway.decoded import Decoded, pixels
from tests.tools.pictures import png, scene

SIZE = (400, 300)
KEPT = 4 * SIZE[0] * SIZE[1]


@pytest.fixture
def pictures(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{seed}.png" for seed in range(3)]
    for seed, path in enumerate(paths):
        path.write_bytes(png(scene(seed, SIZE)))
    return [str(path) for path in paths]


def look(decoded: Decoded, picture: str) -> tuple[str, bytes]:
    """(mode, pixels) of a picture as a worker sees it: RGBX when it was kept."""
    with decoded.place(picture) as place, pixels(picture, place) as image:
        return image.mode, image.convert("RGB").tobytes()


def test_what_is_kept_is_what_was_decoded(pictures: list[str]) -> None:
    decoded = Decoded()
    first, again = look(decoded, pictures[0]), look(decoded, pictures[0])
    assert (first[0], again[0]) == ("RGB", "RGBX")
    assert first[1] == again[1] == scene(0, SIZE).tobytes()
    decoded.close()


def test_the_one_that_was_not_used_for_longest_goes_first(pictures: list[str]) -> None:
    decoded = Decoded(most=2 * KEPT + 100)
    for picture in (pictures[0], pictures[1], pictures[0], pictures[2], pictures[2]):
        look(decoded, picture)
    assert [look(decoded, picture)[0] for picture in (pictures[0], pictures[2])] == ["RGBX", "RGBX"]
    assert look(decoded, pictures[1])[0] == "RGB"
    decoded.close()


def test_one_in_use_stays(pictures: list[str]) -> None:
    decoded = Decoded(most=KEPT // 2)
    look(decoded, pictures[0])
    with decoded.place(pictures[1]) as place:
        with pixels(pictures[1], place) as image:
            pass
        look(decoded, pictures[2])
        with pixels(pictures[1], place) as image:
            assert image.mode == "RGBX"
    decoded.close()


def test_a_place_that_was_not_filled_to_its_end_is_filled_again(pictures: list[str]) -> None:
    decoded = Decoded()
    with decoded.place(pictures[0]) as place:
        Path(place).write_bytes(b"\0" * 16 + b"half of it, then the writer was killed")
    assert look(decoded, pictures[0])[0] == "RGB"
    assert look(decoded, pictures[0]) == ("RGBX", scene(0, SIZE).tobytes())
    decoded.close()


def test_on_a_full_disk_nothing_is_kept(pictures: list[str]) -> None:
    decoded = Decoded(free=2**62)
    assert [look(decoded, pictures[0]) for _ in range(2)] == [("RGB", scene(0, SIZE).tobytes())] * 2
    decoded.close()


def test_nothing_is_left_when_the_run_is_killed(pictures: list[str], tmp_path: Path) -> None:
    """The files have no name from the start; the worker processes end with the one that is killed."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = (
        "import asyncio, sys\n"
        "from fieldmark.sandbox.gateway.backends import Backends\n"
        "from fieldmark.sandbox.gateway.clock import Clock\n"
        "async def main():\n"
        "    backends = Backends()\n"
        "    for _ in range(3): await backends.cut(Clock(), sys.argv[1], None, 1.0, 'image/png')\n"
        "    print('cut', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "if __name__ == '__main__': asyncio.run(main())\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    run = subprocess.Popen(
        [sys.executable, str(script), pictures[0]],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
    )
    assert run.stdout
    with run.stdout as said:
        assert said.readline() == b"cut\n"
        assert list(folder.iterdir()) == []
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert said.read() == b""  # the workers held the pipe: they have ended too
    assert list(folder.iterdir()) == []
