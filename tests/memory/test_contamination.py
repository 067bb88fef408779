"""A false note is followed to every answer it may have touched, from constructed run folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fieldmark import jsonl
from fieldmark.commands import memory
from fieldmark.errors import UsageError
from fieldmark.memory.contamination import contamination
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir, episode_key

CHAIN = {"t0": [], "t1": ["n-t0"], "t2": ["n-t1"], "t3": ["n-t2", "n-t0"], "t4": ["other"]}
"""Episode → the notes it read; each took one, n-<its id>."""


def run_of(path: Path, read: dict[str, list[str]], notes: list[dict[str, Any]]) -> RunDir:
    run = RunDir.create(path)
    run.write_config({"id": path.name, "memory": {"mode": "inherit", "waves": 1}})
    for task_id, names in read.items():
        hits = [{"note": name, "score": 0.5} for name in names]
        event = {"seq": 0, "t": 0.0, "by": "gateway", "kind": "memory_read", "query": "", "hits": hits}
        pending = run.pending_trace(task_id, 0, 0)
        jsonl.write_all(pending, [event])
        record = EpisodeRecord(
            id=task_id, status="answered", agent="a", model="m", answer=f"of {task_id}", seconds=1,
            charged_seconds=1, started="now", trace=f"{episode_key(task_id)}.jsonl",
        )  # fmt: skip
        run.commit(record, pending)
        run.add_verdict(Verdict(id=task_id, label="incorrect", score=0, judge="exact"))
    for note in notes:
        jsonl.append(run.memory_file, note)
    return run


def note(task_id: str, **more: Any) -> dict[str, Any]:
    text = f"noted in {task_id}"
    return {"id": task_id, "note": f"n-{task_id}", "kind": "family", "text": text, "cites": [1], **more}


@pytest.fixture
def poisoned(tmp_path: Path) -> RunDir:
    other = {**note("t9"), "note": "other"}
    return run_of(tmp_path / "A", CHAIN, [*map(note, CHAIN), other])


@pytest.fixture
def frozen(tmp_path: Path, poisoned: RunDir) -> RunDir:
    """Read A's notes: u0 the carried one, u1 one of another run with the very name of the false one."""
    taken = [note(task_id, run="A") for task_id in CHAIN]
    return run_of(tmp_path / "B", {"u0": ["n-t2"], "u1": ["n-t4"]}, taken)


def test_a_note_is_followed_through_the_notes_that_carry_it_on(poisoned: RunDir) -> None:
    found = contamination(poisoned, "n-t0")
    assert [(each.reader.id, each.hand, each.through) for each in found.touched] == [
        ("t1", 1, ["n-t0"]),
        ("t3", 1, ["n-t0", "n-t2"]),
        ("t2", 2, ["n-t1"]),
    ]
    assert [(each.note.note, each.hand) for each in found.carried] == [("n-t1", 1), ("n-t3", 1), ("n-t2", 2)]


def test_it_is_followed_into_runs_that_read_its_runs_notes(poisoned: RunDir, frozen: RunDir) -> None:
    found = contamination(poisoned, "n-t0", [frozen])
    assert [(each.run, each.reader.id, each.hand) for each in found.touched][-1] == ("B", "u0", 3)
    assert "u1" not in {each.reader.id for each in found.touched}


def test_the_same_name_in_a_run_of_its_own_is_another_note(tmp_path: Path, poisoned: RunDir) -> None:
    """The names of notes follow from task and number: two runs over the same tasks have the same ones."""
    apart = run_of(tmp_path / "C", {"t0": [], "t1": ["n-t0"]}, [note("t0")])
    assert {each.run for each in contamination(poisoned, "n-t0", [apart]).touched} == {"A"}


def test_the_command_tells_all_of_it(poisoned: RunDir, frozen: RunDir) -> None:
    asked = [str(poisoned.path), "--note", "n-t0", "--in", str(frozen.path.parent)]
    told = CliRunner().invoke(memory.command, asked, catch_exceptions=False).stdout
    assert "carried on by n-t2 (family) noted in t2" in told
    assert "hand 2, through n-t1: read by t2" in told
    assert "[in B]" in told
    assert told.endswith("touched: 4 answers (2 at hand 1, 1 at hand 2, 1 at hand 3), 0 correct\n")
    told = CliRunner().invoke(memory.command, [*asked, "--json"], catch_exceptions=False).stdout
    assert len(json.loads(told)["contamination"]["touched"]) == 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--note", "nothing"], "no note 'nothing'"),
        (["--in", "."], "name it with --note"),
        (["--note", "n-t0", "--in", "nowhere"], "no run in nowhere"),
    ],
)
def test_what_cannot_be_followed_is_refused(poisoned: RunDir, options: list[str], why: str) -> None:
    told = CliRunner().invoke(memory.command, [str(poisoned.path), *options])
    assert isinstance(told.exception, UsageError)
    assert why in str(told.exception)
