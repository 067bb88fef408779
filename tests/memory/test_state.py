"""A state is text under the agent's own places, called by its content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import ToolError
from fieldmark.memory.state import (
    MOST_BYTES,
    MOST_FILES,
    StateRow,
    checked,
    name_of,
    packed,
    read_states,
    state_before,
    unpacked,
)

PLACES = ("home/.agent", "workspace/MEMORY.md")


def row(task: str, wave: int, epoch: int = 0, run: str | None = None) -> StateRow:
    return StateRow(id=task, epoch=epoch, wave=wave, state=task * 64, files=1, bytes=9, run=run)


def test_the_same_files_are_the_same_state() -> None:
    one, other = {"home/.agent/b": "2", "home/.agent/a": "1"}, {"home/.agent/a": "1", "home/.agent/b": "2"}
    assert (packed(one), name_of(one)) == (packed(other), name_of(other))
    assert unpacked(packed(one)) == other
    assert name_of({**one, "home/.agent/a": "x"}) != name_of(one)


def test_text_under_the_places_of_the_agent_is_taken() -> None:
    files = {"home/.agent/notes/a.md": "é e\u0301\u0323 鸟 กำ\n", "workspace/MEMORY.md": ""}
    assert checked(files, PLACES) == files


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["home/.agent/a"], "at most"),
        (None, "at most"),
        ({f"home/.agent/{at}": "" for at in range(MOST_FILES + 1)}, "at most 500 files"),
        ({"home/.agent/a": "x" * MOST_BYTES}, "at most 1048576 bytes"),
        ({"home/.agent/a": 1}, "texts alone"),
        ({"home/.agent/a": "w\0h\0i\0t\0e\0"}, "texts alone"),
        ({"home/.agent/a": "\ud800"}, "texts alone"),
        ({"home/.agent/a\0": ""}, "texts alone"),
        ({"home/.agent/a": "a" + "\u0300\u0323" * 20}, "heaps of marks"),
        ({"home/.agent/a": "\u0f73" * 40}, "heaps of marks"),
        ({"home/.agent/" + "a" * 240: ""}, "is no place"),
        ({"home/.agent/../.bashrc": ""}, "is no place"),
        ({"home/.agent//a": ""}, "is no place"),
        ({"home/.agents/a": ""}, "is no place"),
        ({"/home/.agent/a": ""}, "is no place"),
        ({"workspace/picture.png": ""}, "is no place"),
        ({"home/.agent/a": "", "home/.agent/a/b": ""}, "is no place"),
    ],
)
def test_what_is_no_state_is_refused(files: Any, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        checked(files, PLACES)


def test_an_episode_begins_with_what_the_latest_earlier_one_of_its_epoch_left() -> None:
    rows = [row("a", 0), row("b", 1), row("d", 3), row("c", 2), row("e", 4, epoch=1)]
    assert state_before(rows, 0, 0) is None
    assert state_before(rows, 3, 0) == row("c", 2)
    assert state_before(rows, 5, 0) == row("d", 3)
    assert state_before(rows, 4, 1) is None
    assert state_before(rows, 5, 0, known=2) == row("b", 1)
    assert state_before([row("f", 0, run="A")], 0, 2) == row("f", 0, run="A")


def test_lines_that_are_no_state_count_as_not_there(tmp_path: Path) -> None:
    jsonl.append(tmp_path / "memory.jsonl", {"id": "a", "note": "n", "text": "t"})
    jsonl.append(tmp_path / "memory.jsonl", row("b", 1).model_dump())
    assert read_states(tmp_path / "memory.jsonl") == [row("b", 1)]
