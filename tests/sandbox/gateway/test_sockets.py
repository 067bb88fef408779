"""Socket folders that killed runs left: which are taken away, and which are left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fieldmark.sandbox import owner
from fieldmark.sandbox.gateway import sockets

LONG_AGO = (1e9, 1e9)
DEAD = "999999999:1"


@pytest.mark.parametrize(
    ("name", "files", "age", "abandoned"),
    [
        ("fm-0123abcd", {"owner": DEAD}, None, True),
        ("fm-0123abcd", {"owner": owner.me()}, LONG_AGO, False),
        ("fm-0123abcd", {}, LONG_AGO, True),  # killed between making and signing it
        ("fm-0123abcd", {"place": "x", "owner": ""}, LONG_AGO, True),
        ("fm-0123abcd", {}, None, False),  # another run is just making it
        ("fm-0123abcd", {"notes.txt": "x"}, LONG_AGO, False),
        ("fm-radio-logs", {}, LONG_AGO, False),  # a folder of somebody else's
    ],
)
def test_only_folders_of_dead_runs_are_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, str],
    age: tuple[float, float] | None, abandoned: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / name
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text)
    if age:
        os.utime(folder, age)
    assert sockets.abandoned() == ([folder] if abandoned else [])
