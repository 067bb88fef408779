"""What breaks while a file is written leaves the old one, and nothing beside it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldmark.whole_file import write_whole


def test_it_is_written_over_with_what_a_kill_left(tmp_path: Path) -> None:
    (tmp_path / ".a.json.new").write_bytes(b"half of wha")
    write_whole(tmp_path / "a.json", b"one\n")
    write_whole(tmp_path / "a.json", (b"two\n", b"three\n"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.json": b"two\nthree\n"}


def test_where_there_is_no_room_the_old_one_stands(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", b"old\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(tmp_path / "a.json", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old\n"]


def test_where_its_parts_break_off_the_old_one_stands(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new\n"
        raise KeyboardInterrupt

    write_whole(tmp_path / "a.json", b"old\n")
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.json", parts())
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old\n"]
