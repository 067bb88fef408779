"""A planted gold answer does not get into a memory, however it is spelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark import jsonl
from fieldmark.config import RunConfig
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.exporting.proof import GoldSearch
from fieldmark.memory.notes import read_notes
from fieldmark.remembering import take_over
from fieldmark.rundir import RunDir
from fieldmark.task import Gold

GOLD = {
    "plane": Gold(
        answer="Boeing 737-800", aliases=["B-2501N", "White"], evidence=["https://a.example/b%20c/d"]
    ),
    "airline": Gold(answer="中国东方航空", aliases=["東方航空"]),
    "cake": Gold(answer="Café Crème", finer=["Café Crème de Paris"]),
}
PLANTED = [
    "it is a BOEING 737-800", "boeing  737 800", "Boeing737-800", "boeing 737800", "Boeing_737_800",
    "boeing&#32;737-800", "Boeing%20737-800", "Boe\u200bing 737-800", "Boeing\u00a0737\u2011800",
    "Boeing 737-800's",
    "b2501n", "B 2501 N", "Ｂ－２５０１Ｎ", "its tail says *B-2501N*.",
    "W h i t e", "w-h-i-t-e", "wh\u00adite", "Ｗｈｉｔｅ", "𝐖𝐡𝐢𝐭𝐞",
    "中国东方航空", "这是中国东方航空公司", "中 国 东 方 航 空", "中国·东方航空", "東方航空",
    "CAFÉ CRÈME", "cafe\u0301 cre\u0300me", "Cafe Creme", "see a.example/b c/d",
]  # fmt: skip
HARMLESS = [
    "whiteness says little", "a 737 of some kind", "B-2501", "read the tail before the wing",
    "机尾有中国国旗",
    "the crème is pale",
]  # fmt: skip


@pytest.mark.parametrize("text", PLANTED)
def test_a_gold_answer_is_found_in_any_spelling(text: str) -> None:
    assert GoldSearch(GOLD, every=True).in_text(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_note_that_names_no_answer_is_kept(text: str) -> None:
    assert not GoldSearch(GOLD, every=True).in_text(text)


def test_planted_gold_is_withheld_from_a_frozen_memory(tmp_path: Path, tiny: Path) -> None:
    tasks = load_benchmark(str(tiny)).tasks
    golden = [
        task.model_copy(update={"gold": gold}) for task, gold in zip(tasks, GOLD.values(), strict=False)
    ]
    source = RunDir.create(tmp_path / "source")
    source.write_config({"id": "source", "state": "finished"})
    for place, text in enumerate([*PLANTED, *HARMLESS]):
        row = {"id": "p", "note": f"n{place}", "kind": "family", "text": text, "cites": [1]}
        jsonl.append(source.memory_file, row)
    run = RunDir.create(tmp_path / "run")
    assert take_over(RunConfig(memory=f"frozen:{source.path}"), run, golden) is None
    assert [note.text for note in read_notes(run.memory_file)] == HARMLESS
    assert len(jsonl.read(run.memory_withheld_file).rows) == len(PLANTED)
