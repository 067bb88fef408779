"""What may be published of a run: what is in it, what is not, and that gold anywhere stops it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.classifying import classify_run
from fieldmark.errors import UsageError
from fieldmark.exporting.excel import text_cell, write_csv
from fieldmark.exporting.proof import GoldSearch
from fieldmark.exporting.public import export_public
from fieldmark.findings import FailureMark
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from fieldmark.trace import ErrorInfo
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder

GOLD = {
    "r-001": Gold(answer="Obrin T-40 shaver", aliases=["Obrin T40"], evidence=["https://www.obrin.example/t-40?a=%C3%A9"]),
    "r-002": Gold(answer="云栖钟楼", aliases=["Yunqi Bell Tower", "42"], finer=["云栖北钟楼"]),
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """Two episodes: one answers exactly what gold says, with a formula in the other's answer."""
    builder = RunBuilder(tmp_path / "run", web={"mode": "offline", "guard": ["obrin.example/t-40?a=é"]})
    for task_id in GOLD:
        builder.task(task_id)
    builder.episode("r-001", verdict="correct").answer(GOLD["r-001"].answer)
    builder.episode("r-002", verdict="incorrect").answer("=HYPERLINK(1)").event(
        "sandbox", "answer", text="云栖钟楼"
    )
    folder = builder.finish()
    folder.write_tasks(folder.tasks(), GOLD)
    return folder


def add_to_episode(run: RunDir, **fields: Any) -> None:
    rows = jsonl.read(run.episodes_file).rows
    jsonl.write_all(run.episodes_file, [{**row, **fields} for row in rows])


def test_it_holds_predictions_verdicts_and_aggregates_and_nothing_else(run: RunDir, tmp_path: Path) -> None:
    exported = export_public(run, tmp_path / "out")
    assert exported.found == []
    assert exported.too_short == 1
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "run.json", "tasks.jsonl", "episodes.jsonl", "verdicts.jsonl", "summary.json", "report.html",
        "results.csv", "export.json", "facts.jsonl",
    }  # fmt: skip
    rows = jsonl.read(tmp_path / "out" / "episodes.jsonl").rows
    assert [row["answer"] for row in rows] == [GOLD["r-001"].answer, "=HYPERLINK(1)"]
    assert "rationale" not in rows[0]
    assert jsonl.read(tmp_path / "out" / "verdicts.jsonl").rows[0]["label"] == "correct"
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    for kept_back in ("What is this?", "SECRET-reason", "Yunqi", "云栖", "obrin.example"):
        assert kept_back not in text
    proof = json.loads((tmp_path / "out" / "export.json").read_text())["proof"]
    assert proof == {"searched": exported.searched, "too_short": 1, "found": 0}


def test_what_is_published_is_a_run_again(run: RunDir, tmp_path: Path) -> None:
    """Its rows are read by `report` and `view` as those of the run are, without the private part."""
    records = run.episodes()
    broken = ErrorInfo(boundary="agent", kind="crash", message="words of a stranger")
    late = records[0].model_copy(update={"epoch": 1, "status": "agent_error", "error": broken})
    jsonl.append(run.episodes_file, late.model_dump(mode="json", exclude_none=True))
    export_public(run, tmp_path / "out")
    published = RunDir.open(tmp_path / "out")
    told = [(record.key, record.status, record.answer) for record in run.episodes()]
    assert [(record.key, record.status, record.answer) for record in published.episodes()] == told
    assert published.unreadable() == {}


def test_classes_of_failures_are_published_and_gold_in_them_is_found(run: RunDir, tmp_path: Path) -> None:
    classify_run(run)
    assert export_public(run, tmp_path / "out").found == []
    (row,) = jsonl.read(tmp_path / "out" / "failures.jsonl").rows
    assert (row["id"], row["label"], row["outcome"]) == ("r-002", "no_acquisition", "incorrect")
    assert not {"hierarchy", "reason", "why_open"} & row.keys()
    planted = run.failures()["r-002", 0].model_copy(update={"classifier": "my 云栖钟楼"})
    jsonl.append(run.failures_file, planted.model_dump(mode="json"))
    found = export_public(run, tmp_path / "again").found
    assert ("failures.jsonl", "answer of task r-002") in {(each.file, each.what) for each in found}
    assert not (tmp_path / "again").exists()


def test_a_label_of_a_person_is_not_published(run: RunDir, tmp_path: Path) -> None:
    mark = FailureMark(id="r-002", annotator="ann", label="too_broad", note="it is 云栖钟楼")
    jsonl.append(run.failure_marks_file, mark.model_dump(mode="json"))
    assert export_public(run, tmp_path / "out").found == []
    assert not [path for path in (tmp_path / "out").iterdir() if "marks" in path.name]


@pytest.mark.parametrize(
    "planted",
    [
        "an ＯＢＲＩＮ t–40 Shaver", "obrin\nT40", "https://obrin.example/t-40?a=é#x",
        "http%3A%2F%2Fobrin.example%2Ft-40%3Fa%3D%C3%A9", "这是云栖钟楼。", json.dumps({"x": "云栖北钟楼"}),
        "<b>Yunqi</b> Bell &#84;ower",
    ],
)  # fmt: skip
def test_gold_anywhere_stops_it_with_file_and_line(run: RunDir, tmp_path: Path, planted: str) -> None:
    add_to_episode(run, model=planted)
    exported = export_public(run, tmp_path / "out")
    places = {(each.file, each.line) for each in exported.found}
    assert {("episodes.jsonl", 1), ("episodes.jsonl", 2)} <= places
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_words_that_only_look_like_gold_do_not_stop_it(run: RunDir, tmp_path: Path) -> None:
    add_to_episode(run, model="Obrin T-400 shavers 42", agent="Bell Tower")
    assert export_public(run, tmp_path / "out").found == []


def test_traces_only_when_asked_and_without_what_pages_said(run: RunDir, tmp_path: Path) -> None:
    exported = export_public(run, tmp_path / "clean", traces=True)
    assert exported.found == []  # the answer event is the agent's own word
    name = run.episodes()[1].trace
    with (run.traces / name).open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"seq": 99, "t": 1, "by": "sandbox", "kind": "tool_result", "text": "云栖钟楼 1921"})
            + "\n"
        )
    lines = len((run.traces / name).read_text().splitlines())
    [found] = export_public(run, tmp_path / "dirty", traces=True).found
    assert (found.file, found.line) == (f"traces/{name}", lines)
    assert "r-002" in found.what
    assert "云" not in found.what


def test_without_gold_nothing_can_be_proved(run: RunDir, tmp_path: Path) -> None:
    jsonl.write_all(run.gold_file, jsonl.read(run.gold_file).rows[:1])
    with pytest.raises(UsageError, match="lacks the gold of task 'r-002'"):
        export_public(run, tmp_path / "out")


def test_the_command(fieldmark: Fieldmark, run: RunDir, tmp_path: Path) -> None:
    done = fieldmark("export", run.path, "--public", tmp_path / "out")
    assert (done.returncode, "none of 6" in done.stdout) == (0, True)
    again = fieldmark("export", run.path, "--public", tmp_path / "out")
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    add_to_episode(run, model="Obrin T40")
    found = fieldmark("export", run.path, "--public", tmp_path / "new")
    assert (found.returncode, "episodes.jsonl:1: holds the alias of task r-001" in found.stderr) == (1, True)


@pytest.mark.parametrize(
    "text", ["007", "73928e05", "1-2", "12345678901234567890", "1/2", "3 Mar", "Sep2", "TRUE", "1e5",
             "=HYPERLINK(1)", "+1-2", "-x", "@SUM(1)", " =1", "\t=1", "＝1"],
)  # fmt: skip
def test_excel_neither_runs_nor_converts(text: str) -> None:
    assert text_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["p-001", "Saab 340", "运-20", "Boeing 737-800", "March hare", "truest", ""])
def test_other_text_stays(text: str) -> None:
    assert text_cell(text) == text


def test_ids_that_excel_would_change_are_marked_for_it_and_stay_as_they_are_in_the_truth(
    tmp_path: Path,
) -> None:
    ids = ["007", "73928e05", "1-2", "12345678901234567890"]
    builder = RunBuilder(tmp_path / "run")
    for task_id in ids:
        builder.task(task_id).episode(task_id, verdict="incorrect").answer("=HYPERLINK(1)")
    export_public(builder.finish(), tmp_path / "out")
    with (tmp_path / "out" / "results.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["answer"]) for row in rows] == [(f"'{each}", "'=HYPERLINK(1)") for each in ids]
    truth = jsonl.read(tmp_path / "out" / "episodes.jsonl").rows
    assert [(row["id"], row["answer"]) for row in truth] == [(each, "=HYPERLINK(1)") for each in ids]


def test_a_csv_has_a_mark_for_excel_and_keeps_numbers(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", ["id", "answer", "seconds"], [["007", '运-20,\n"x"', -1.5], ["a", None, 2]])
    raw = (tmp_path / "a.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(raw.decode("utf-8-sig").splitlines(keepends=True)))
    assert rows[1:] == [["'007", '运-20,\n"x"', "-1.5"], ["a", "", "2"]]


def test_links_are_found_in_any_coding_and_domains_alone_are_not() -> None:
    search = GoldSearch(GOLD)
    assert search.in_text("see HTTPS://OBRIN.example/t-40?a=%c3%a9")
    assert not search.in_text("see obrin.example/help")
