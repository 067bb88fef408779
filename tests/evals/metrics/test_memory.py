"""What a memory did, from constructed run folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fieldmark import jsonl
from fieldmark.commands import report
from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.metrics.memory import MemoryFacts
from fieldmark.evals.metrics.summary import summarise
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, EpisodeBuilder

INHERIT = {"mode": "inherit", "waves": 1}
SAAB, TAIL = ({"note": name, "score": 0.5} for name in ("saab", "tail"))


def read(episode: EpisodeBuilder, at: str, *hits: dict[str, Any]) -> EpisodeBuilder:
    return episode.event("gateway", "memory_read", query="", at=at, hits=list(hits))


def write(episode: EpisodeBuilder, note: str, text: str, kind: str = "operator") -> EpisodeBuilder:
    return episode.event("gateway", "memory_write", note=note, about=kind, text=text, cites=[3])


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """t0 takes two notes, t1 to t3 read; t4 is lost with its note; t5 broke by our fault."""
    built = build_run("warm", memory=INHERIT)
    for place in range(6):
        built.task(f"t{place}")
    first = read(built.episode("t0", verdict="incorrect"), "lease")
    write(write(first, "saab", "a SAAB  340B, or a Saab-340"), "tail", "a tail that is high", "visual_cue")
    first.step(("remember", "failed"), ("remember", "ok"))
    read(built.episode("t1", verdict="correct"), "lease", SAAB)
    told = read(built.episode("t2", verdict="incorrect"), "lease", TAIL)
    read(told, "recall", TAIL, {"note": "other", "score": 0.1, "same": ["tail"]}).answer("ATR 72")
    read(built.episode("t3", verdict="incorrect"), "lease", SAAB, TAIL).answer("unknown")
    write(built.episode("t4", status="timeout"), "late", "a note that is lost")
    read(built.episode("t5", status="sandbox_error"), "lease", SAAB)
    folder = built.finish()
    for name, text, kind in (
        ("saab", "a SAAB  340B, or a Saab-340", "operator"),
        ("tail", "high", "visual_cue"),
    ):
        row = {"id": "t0", "note": name, "kind": kind, "text": text, "cites": [3]}
        jsonl.append(folder.memory_file, row)
    over = {"id": "o", "note": "over", "kind": "family", "text": "x", "cites": [1], "run": "earlier"}
    jsonl.append(folder.memory_file, over)
    jsonl.append(folder.memory_withheld_file, {"note": "gold", "text": "SECRET-t3"})
    return folder


def facts(run: RunDir) -> MemoryFacts:
    found = summarise(run).memory
    assert found
    return found


def test_what_was_written_is_counted_by_kind(run: RunDir) -> None:
    rows = {row.kind: (row.taken, row.kept, row.over, row.read) for row in facts(run).kinds}
    assert rows == {"operator": (2, 1, 0, 1), "visual_cue": (1, 1, 0, 1), "family": (0, 0, 1, 0)}
    told = facts(run)
    assert (told.refused, told.lost, told.withheld) == (1, 1, 1)


def test_what_was_read_is_counted_by_episode_and_by_note(run: RunDir) -> None:
    told = facts(run)
    assert [(share.count, share.n) for share in (told.leased, told.recalled)] == [(3, 5), (1, 5)]
    assert told.each == pytest.approx(5 / 3)
    assert told.ever_read
    assert (told.ever_read.count, told.ever_read.n) == (2, 3)


def test_accuracy_splits_by_what_was_read(run: RunDir) -> None:
    """An answer that stands in a note need not be right; `unknown` stands nowhere."""
    rows = {row.what: (row.episodes.count, row.correct.count, row.correct.n) for row in facts(run).rows}
    assert rows == {"read no note": (2, 0, 2), "read notes": (3, 1, 3), "answer stood in one": (1, 1, 1)}


def test_an_answer_that_the_question_says_stood_in_no_note(build_run: BuildRun) -> None:
    built = build_run("asked", memory=INHERIT).task("t0")
    built._tasks[0]["question"] = "Is it a Saab 340?"
    read(built.episode("t0", verdict="correct"), "lease", SAAB)
    run = built.finish()
    row = {"id": "x", "note": "saab", "kind": "family", "text": "a Saab 340", "cites": [1], "run": "earlier"}
    jsonl.append(run.memory_file, row)
    assert [row.episodes.count for row in facts(run).rows] == [0, 1, 0]


def test_without_its_log_nothing_is_said_of_the_texts(run: RunDir) -> None:
    run.memory_file.unlink()
    run.memory_withheld_file.unlink()
    told = facts(run)
    assert told.ever_read is None
    assert [row.what for row in told.rows] == ["read no note", "read notes"]
    assert {row.kept for row in told.kinds} == {None}


def test_a_run_without_memory_has_no_table_of_it(build_run: BuildRun) -> None:
    built = build_run("off").task("t0")
    built.episode("t0", verdict="correct")
    run = built.finish()
    assert summarise(run).memory is None
    assert "Memory" not in CliRunner().invoke(report.command, [str(run.path)]).stdout


def test_the_report_shows_it_and_holds_no_gold(run: RunDir) -> None:
    shown = CliRunner().invoke(report.command, [str(run.path)], catch_exceptions=False).stdout
    page = run.report_html.read_text(encoding="utf-8")
    for title in ("Memory: notes", "Memory: accuracy by what was read"):
        assert title in shown
        assert title in page
    assert "withheld because they hold gold: 1" in " ".join(shown.split())
    assert "SECRET" not in shown + page


def test_the_same_looks_without_memory_say_whether_an_answer_changed(
    run: RunDir, build_run: BuildRun
) -> None:
    built = build_run("cold")
    for place in range(6):
        built.task(f"t{place}")
    built.episode("t0", verdict="incorrect")
    built.episode("t1", verdict="incorrect").answer("Saab 2000")
    built.episode("t2", verdict="correct")
    built.episode("t3", verdict="incorrect")
    cold = built.finish()
    for runs in ([cold, run], [run, cold]):
        (versus,) = comparison(runs).versus
        assert versus.memory
        assert (versus.memory.arm, versus.memory.without) == ("warm", "cold")
        rows = [
            (row.what, row.pairs, row.changed, row.helped, row.hurt, row.both, row.neither)
            for row in versus.memory.rows
        ]
        assert rows == [
            ("read no note", 1, 0, 0, 0, 0, 1),
            ("read notes", 3, 3, 1, 1, 0, 1),
            ("answer stood in one", 1, 1, 1, 0, 0, 0),
        ]
    assert comparison([run, build_again(build_run)]).versus[0].memory is None


def build_again(build_run: BuildRun) -> RunDir:
    built = build_run("warm-too", memory=INHERIT).task("t0")
    built.episode("t0", verdict="correct")
    return built.finish()
