"""The first broken link by Pix2Fact's scheme: what facts say, a model over real HTTP, persons, the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fieldmark as package
from fieldmark import jsonl
from fieldmark.chaining import chain_run
from fieldmark.evals.asking.reply import NotUsed
from fieldmark.evals.failures.chain.by_facts import broken
from fieldmark.evals.failures.chain.llm import make
from fieldmark.evals.failures.chain.reply import read_reply
from fieldmark.evals.failures.chain.scheme import KINDS, SCHEME, STAGES
from fieldmark.evals.frames.sql import ask
from fieldmark.evals.inspector.filters import Filter
from fieldmark.evals.inspector.index import Index
from fieldmark.evals.metrics.chain import chain
from fieldmark.evals.metrics.failures import failures
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.exporting.public import export_public
from fieldmark.findings import ChainBreak, FailureMark, Link
from fieldmark.labelling.session import Person, label_run
from fieldmark.model_config import ClassifierConfig
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder
from tests.evals.failures.making import case
from tests.model_server import Body, ModelServer, Reply

SEEN = {"seen": True, "seen_event": 3}
LOOKED = {"region": True, "region_event": 1}


@pytest.mark.parametrize(
    ("told", "link", "kind", "sure"),
    [
        ({"found": {"region": False}}, "grounding", "missed_target", True),
        ({"calls": [("web", True)], "facts": {"picture": "none"}}, "grounding", "missed_target", True),
        ({"facts": {"picture_lost": True, "looked": False}}, "grounding", "missed_target", True),
        ({"found": SEEN}, "retrieval", "extraction_error", True),
        ({"found": {**SEEN, "region": False}}, "retrieval", "extraction_error", True),
        ({"found": {**SEEN, "dropped": True, "dropped_event": 4}}, "reasoning", None, True),
        ({"found": {"reached": True, "reached_event": 3}}, "retrieval", None, True),
        ({"found": LOOKED}, "retrieval", None, False),
        ({"found": LOOKED, "calls": [("crop", True)]}, "reasoning", "retrieval_planning", False),
        ({"answer": None}, None, None, True),
        ({"status": "timeout"}, None, None, True),
        ({"outcome": "uncertain"}, None, None, True),
    ],
)
def test_facts_say_what_broke_first(told: dict[str, Any], link: Link | None, kind: str, sure: bool) -> None:
    word = broken(case(**told))
    assert word
    assert (word.link, word.kind, word.sure) == (link, kind, sure)


@pytest.mark.parametrize("told", [{}, {"gold": None}, {"calls": []}, {"found": {"seen": None, **LOOKED}}])
def test_facts_leave_open_what_they_do_not_show(told: dict[str, Any]) -> None:
    assert broken(case(**told)) is None


def reply(stage: str | None, kind: str | None = None, events: list[Any] | None = None) -> str:
    told = {"stage": stage, "kind": kind, "events": [1] if events is None else events, "reason": "so"}
    return json.dumps(told)


def test_a_reply_is_a_stage_and_a_kind_of_it() -> None:
    said = read_reply(reply("grounding", "attribute_misreading"), {1})
    assert (said.link, said.kind, said.events) == ("grounding", "attribute_misreading", (1,))
    assert read_reply(reply(None), {1}).link is None
    for text, why in (
        (reply("grounding", "calculation"), "its kind is none of missed_target"),
        (reply("vision"), "its stage is none of grounding"),
        (reply("reasoning", events=[]), "it cites no event"),
        (reply("reasoning", events=[9]), "it cites 9"),
        (reply("reasoning") + reply("retrieval"), "several stages that differ"),
    ):
        with pytest.raises(NotUsed, match=why):
            read_reply(text, {1})


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """Four wrong answers: the reference came back; nothing was looked up; a time-out; it never came back."""
    built = RunBuilder(tmp_path / "out")
    for name in ("seen", "at-once", "late", "vain"):
        built.task(name, gold=Gold(answer="Saab 340"))
    seen = built.episode("seen", verdict="incorrect").request("m").response("m", [("c", "web_search")])
    seen.event("sandbox", "tool_call", call="c", name="web_search", door="graph", action="web_search")
    seen.event("sandbox", "tool_result", call="c", ok=True, seconds=0.1, text="It is a Saab 340.")
    seen.answer("Saab 2000")
    at_once = built.episode("at-once", verdict="incorrect").request("m").response("m", []).answer("Saab 2000")
    at_once.event("sandbox", "answer", text="Saab 2000")
    built.episode("late", status="timeout")
    built.episode("vain", verdict="incorrect").step(("web_search", "ok")).answer("Saab 2000")
    return built.finish()


def rows(run: RunDir) -> dict[str, tuple[str | None, str | None, str]]:
    return {row.id: (row.link, row.kind, row.by) for row in run.chain_breaks().values()}


def test_facts_decide_and_a_model_says_the_rest_once(run: RunDir) -> None:
    chain_run(run, say=print)
    assert rows(run) == {
        "seen": ("retrieval", "extraction_error", "facts"), "at-once": (None, None, "open"),
        "late": (None, None, "facts"), "vain": (None, None, "open"),
    }  # fmt: skip

    def planning(body: Body) -> Reply:
        steps = json.loads(body["messages"][1]["content"])["steps"]
        return Reply(reply("reasoning", "retrieval_planning", [steps[0]["event"]]))

    with ModelServer(planning) as server:
        model = make(ClassifierConfig(name="scripted", base_url=server.url))
        done = chain_run(run, model=model, say=print)
        again = chain_run(run, model=model, say=print)
        prompt = server.requests[0]["messages"][0]["content"]
        asked = [json.loads(body["messages"][1]["content"]) for body in server.requests]
    assert (done.by, done.written, again.written) == ({"facts": 2, "model": 2}, 2, 0)
    assert rows(run)["vain"] == ("reasoning", "retrieval_planning", "model")
    assert all(name in prompt for name in (*STAGES, *KINDS))
    assert [(told["reference_answers"], told["presumed"]) for told in asked] == [(["Saab 340"], None)] * 2
    assert "so" in run.chain_reasons_file.read_text()
    assert "so" not in run.chain_breaks_file.read_text().split('"')


def test_a_verdict_that_changed_is_placed_anew(run: RunDir) -> None:
    chain_run(run, say=print)
    verdict = next(verdict for verdict in run.verdicts().values() if verdict.id == "seen")
    run.add_verdict(verdict.model_copy(update={"label": "correct"}))
    found = chain(run, cells(run))
    assert found
    assert found.wrong == 3


def failed(tmp_path: Path, right: int, links: dict[Link, int]) -> RunDir:
    """100 questions: so many right, and the others broken as `links` says."""
    built = RunBuilder(tmp_path / "paper")
    broke: list[Link] = [link for link, count in links.items() for _ in range(count)]
    assert right + len(broke) == 100
    for number in range(100):
        wrong = number < len(broke)
        built.task(f"q{number}").episode(f"q{number}", verdict="incorrect" if wrong else "correct").answer(
            "x"
        )
    folder = built.finish()
    for number, link in enumerate(broke):
        row = ChainBreak(
            id=f"q{number}", scheme=SCHEME, outcome="incorrect", link=link, by="model", classifier="llm/m/1"
        )
        jsonl.append(folder.chain_breaks_file, row.model_dump(mode="json"))
    return folder


@pytest.mark.parametrize(
    ("right", "links", "printed", "passed"),
    [
        (15, {"grounding": 56, "retrieval": 17, "reasoning": 12}, "65.9", [(44, 100), (27, 44), (15, 27)]),
        (24, {"grounding": 52, "retrieval": 14, "reasoning": 10}, "68.4", [(48, 100), (34, 48), (24, 34)]),
    ],
)
def test_the_papers_shares_and_the_pass_rate_of_each_stage(
    tmp_path: Path, fieldmark: Fieldmark, right: int, links: dict[Link, int], printed: str,
    passed: list[tuple[int, int]],
) -> None:  # fmt: skip
    """66 and 68 % of the failures of its model without and with search; the split of the rest is ours."""
    folder = failed(tmp_path, right, links)
    found = chain(folder, cells(folder))
    assert found
    assert found.unplaced == 0
    assert [(row.share.count, row.share.n) for row in found.passed] == passed
    assert all(row.interval for row in [*found.passed, *found.stages])
    report = fieldmark("report", str(folder.path)).stdout
    [line] = [line for line in report.splitlines() if line.split()[:3] == ["stage", "visual", "grounding"]]
    assert line.split()[4] == printed
    assert "Stages passed, pix2fact/1" in report


def test_persons_say_stage_and_kind_and_how_far_they_agree(run: RunDir) -> None:
    chain_run(run, say=print)
    # class, link and kind of each, whatever their order: another entity, not retrieved, retrieval, extraction
    keys = iter("1nr2" * 4)
    shown: list[str] = []
    person = Person("ann", lambda: next(keys), str, shown.append)
    done = label_run(run, person, sample=4, annotators=1, seed=0, scheme=SCHEME)
    assert done.left == 0
    assert {(mark.link, mark.kind, mark.scheme) for mark in run.failure_marks()} == {
        ("retrieval", "extraction_error", SCHEME)
    }
    assert any("1 faulty_query   2 extraction_error   - none of them" in line for line in shown)
    found = chain(run, cells(run))
    assert found
    [pair] = found.agreement
    assert (pair.first, pair.second, pair.n, pair.raw.count) == ("ann", "classifier", 2, 1)


def test_the_command_writes_it_and_the_report_has_it_as_json(run: RunDir, fieldmark: Fieldmark) -> None:
    done = fieldmark("classify", str(run.path), "--scheme", "pix2fact", "--no-llm")
    assert (done.returncode, "2 facts, 2 open" in done.stdout) == (0, True), done.stderr
    assert not run.failures_file.exists()
    told = json.loads(fieldmark("report", str(run.path), "--json").stdout)["runs"][0]["chain"]
    stages = {row["name"]: row["share"]["count"] for row in told["stages"]}
    assert stages == {
        "grounding": 0, "retrieval": 1, "reasoning": 0, "no stage": 1, "left open": 2, "not classified": 0
    }  # fmt: skip
    refused = fieldmark("classify", str(run.path), "--scheme", "pix2fact", "--hierarchy", "x.tsv")
    assert (refused.returncode, "--hierarchy is for the classes" in refused.stderr) == (2, True)


def test_the_stages_are_in_sql_in_the_inspector_and_in_what_is_published(run: RunDir, tmp_path: Path) -> None:
    chain_run(run, say=print)
    query = "SELECT id, link, kind, said_by FROM chain_breaks WHERE link IS NOT NULL"
    assert ask(package.load(run.path), query).rows == [("seen", "retrieval", "extraction_error", "facts")]
    index = Index(run)
    for chosen, ids in (("retrieval", ["seen"]), ("no stage", ["late"]), ("left open", ["at-once", "vain"])):
        fit = Filter.of({"chain": chosen}).apply(index.snapshot().rows, index)
        assert sorted(row.id for row in fit.rows) == ids
    export_public(run, tmp_path / "public")
    published = RunDir.open(tmp_path / "public")
    assert published.chain_breaks() == run.chain_breaks()
    assert "took something else" not in "".join(file.read_text() for file in published.path.glob("*.jsonl"))


def test_a_stage_that_changed_is_seen_by_the_inspector_at_once(run: RunDir) -> None:
    index = Index(run)
    assert all(row.broken is None for row in index.snapshot().rows)
    chain_run(run, say=print)
    assert {row.id for row in index.snapshot().rows if row.broken} == {"seen", "at-once", "late", "vain"}


def test_a_label_by_another_scheme_replaces_none(run: RunDir) -> None:
    """The same person, the same answer: our link stays what it was, and the class counts once."""
    ours = FailureMark(id="seen", annotator="ann", label="wrong_entity_retrieval", link="reasoning")
    theirs = ours.model_copy(update={"scheme": SCHEME, "link": "retrieval", "kind": "faulty_query"})
    bob = ours.model_copy(update={"annotator": "bob"})
    for mark in (ours, bob, theirs):
        run.add_failure_mark(mark)
    assert run.failure_marks() == [ours, bob, theirs]
    validity = failures(run, cells(run)).validity
    assert (validity.labelled, validity.links[0].n) == ({"ann": 1, "bob": 1}, 1)
    assert chain(run, cells(run))
