"""The store: a LangGraph store in SQLite, without extensions; the log is the truth."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.memory.notes import Note, known_to
from fieldmark.memory.store import NoteStore


def note(name: str, text: str = "a note", **more: object) -> Note:
    row = {"id": "t", "note": name, "kind": "family", "text": text, "cites": [1], **more}
    return Note.model_validate(row)


def test_the_store_is_made_equal_to_the_log_however_it_was_left(tmp_path: Path) -> None:
    store = NoteStore.open("a.run", tmp_path / "memory.sqlite")
    store.sync([note("a"), note("b")])
    store.add(2, note("left by a killed run"))
    store.close()
    again = NoteStore.open("a.run", tmp_path / "memory.sqlite")
    again.sync([note("a"), note("b", "as the log has it"), note("c")])
    assert [(each.note.note, each.note.text) for each in again.all()] == [
        ("a", "a note"), ("b", "as the log has it"), ("c", "a note"),
    ]  # fmt: skip
    again.sync([note("a")])
    assert len(again.all()) == 1
    again.close()


def test_runs_in_one_store_do_not_see_each_other(tmp_path: Path) -> None:
    one, other = (NoteStore.open(run, tmp_path / "shared.sqlite") for run in ("one", "other"))
    one.add(0, note("a"))
    assert (len(one.all()), len(other.all())) == (1, 0)
    one.close()
    other.close()


def test_no_extension_of_sqlite_is_needed(tmp_path: Path) -> None:
    store = NoteStore.open("r", tmp_path / "memory.sqlite")
    store.add(0, note("a"))
    store.close()
    tables = sqlite3.connect(tmp_path / "memory.sqlite").execute("SELECT name, sql FROM sqlite_master")
    assert not [name for name, sql in tables if "vec0" in str(sql) or "vector" in name]


def test_what_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "memory.sqlite").write_text("not a database" * 100)
    with pytest.raises(UsageError, match="remove it, it is made again"):
        NoteStore.open("r", tmp_path / "memory.sqlite")
    with pytest.raises(UsageError, match="postgresql://USER@HOST"):
        NoteStore.open("r", tmp_path / "x", "mysql://somewhere")
    with pytest.raises(UsageError, match=r"the extra `postgres`|Postgres cannot be used") as told:
        NoteStore.open("r", tmp_path / "x", "postgresql://nobody:secret@127.0.0.1:1/notes")
    assert "secret" not in str(told.value)


def test_an_episode_reads_earlier_waves_of_its_epoch_and_what_was_taken_over() -> None:
    log = [note("over", wave=9, run="A"), note("first", wave=0), note("same", wave=1), note("late", wave=0)]
    assert [each.note for each in known_to(log, 1, 0)] == ["over", "first", "late"]
    assert [each.note for each in known_to(log, 1, 0, known=3)] == ["over", "first"]
    assert [each.note for each in known_to([*log, note("own", wave=5, epoch=1)], 6, 1)] == ["over", "own"]
