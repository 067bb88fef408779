"""All variants over one run: by dataset and split, macro over what is there, the first option beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.metrics.variants import FIRST, Variants, variants
from fieldmark.evals.report.variants_table import variants_table
from fieldmark.records import Verdict
from fieldmark.rundir import RunDir
from fieldmark.task import Gold

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

ANSWERS = {  # task → split, dataset, gold, the other option, what was said
    "a1": ("seen", "aircraft", "Zorvex 9", "Zorvex 9-200", "<answer>Zorvex 9</answer>"),
    "a2": ("seen", "aircraft", "Zorvex 9", "Zorvex 9-200", "<answer>Zorvex 9-200</answer>"),
    "f1": ("seen", "flower", "moonfern", "starwort", "it is a moonfern"),
    "f2": ("unseen", "flower", "moonfern", "starwort", "<answer>moonfern, starwort</answer>"),
}


def run_of(build_run: BuildRun, *, world: str = "closed") -> RunDir:
    built = build_run(benchmark={"name": "fine-r1", "data": {"options": "official"}})
    for task, (split, dataset, gold, other, said) in ANSWERS.items():
        options = [gold, other] if world == "closed" else []
        built.task(task, split=split, top=dataset, gold=Gold(answer=gold, kind=dataset, options=options))
        answer = said.removeprefix("<answer>").removesuffix("</answer>")
        built.episode(task, verdict="incorrect").answer(answer).event(
            "sandbox", "answer", text=answer, raw=said, evidence=[]
        )
    return built.finish()


def found(run: RunDir) -> Variants:
    told = variants(run, cells(run))
    assert told
    return told


def macros(told: Variants) -> dict[str, list[float | None]]:
    names = dict.fromkeys(row.name for row in told.rows)
    return {name: [row.macro for row in told.rows if row.name == name] for name in names}


def test_every_variant_stands_beside_the_others(build_run: BuildRun) -> None:
    told = found(run_of(build_run))
    assert macros(told) == {  # seen: two aircraft, one flower; unseen: one flower; both
        "closed-official": [0.5, 1.0, 0.75],  # the siblings pass, the echo passes, without tags it is wrong
        "closed-strict": [0.25, 0.0, 0.125],
        "card": [1.0, 1.0, 1.0],
        "text-inclusion": [1.0, 1.0, 1.0],
        "open-strict": [0.25, 0.0, 0.125],
        FIRST: [1.0, 1.0, 1.0],
    }
    assert told.rows[0].n == {"aircraft": 2, "flower": 1}
    assert told.absent["unseen"] == ["aircraft", "bird", "car", "dog", "pet"]
    assert (told.by_accident.count, told.by_accident.n) == (2, 4)


def test_the_table_says_what_is_not_there(build_run: BuildRun) -> None:
    table = variants_table(summarise(run_of(build_run)))
    assert table.title == "Scoring variants · closed world"
    assert table.rows[0] == ["tasks (n)", "seen", "2 of 6", "2", "0", "0", "0", "1", "0"]
    assert ["closed-strict", "seen", "25.0", "50.0", "–", "–", "–", "0.0", "–"] in table.rows
    assert "seen is without bird, car, dog, pet" in table.note
    assert "2/4 tasks have a reference that is part of another option" in table.note


def test_the_open_world_has_no_options(build_run: BuildRun) -> None:
    told = found(run_of(build_run, world="open"))
    assert (told.world, told.options) == ("open", None)
    assert not {"closed-strict", FIRST} & macros(told).keys()


def test_stored_similarities_are_shown_with_their_rule(build_run: BuildRun) -> None:
    run = run_of(build_run, world="open")
    judge = "fine-r1/semantic/0123abcd"
    for task, score in (("a1", 1.0), ("a2", 0.5), ("f2", 0.25)):
        run.add_verdict(Verdict(id=task, label="partially_correct", score=score, judge=judge))
    run.write_config({**run.config(), "judges": {judge: {"super_category": "ours"}}})
    told = found(run)
    assert macros(told)["semantic (ours)"] == [0.75, 0.25, 0.5]
    assert next(row.n for row in told.rows if row.name == "semantic (ours)") == {"aircraft": 2}


def test_another_benchmark_has_no_such_table(build_run: BuildRun) -> None:
    built = build_run()
    built.task("t1").episode("t1", verdict="correct")
    summary = summarise(built.finish())
    assert summary.variants is None
    assert variants_table(summary).rows == []


def test_a_summary_has_them_from_the_traces_that_it_reads_once(build_run: BuildRun) -> None:
    run = run_of(build_run)
    assert summarise(run).variants == found(run)
    nothing_read = variants(run, cells(run), {})
    assert nothing_read
    assert macros(nothing_read)["closed-official"] == [0.0, 0.0, 0.0]  # the traces are not read again
