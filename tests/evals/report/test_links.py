"""A figure leads to the episodes behind it: on the page, and by its address in `fieldmark view`, the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from fieldmark import jsonl
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.inspector.filters import Filter
from fieldmark.evals.inspector.index import Index
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import render_html
from fieldmark.findings import Failure, FailureLabel
from fieldmark.records import VerdictLabel
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

TOPS = ["Nature", "Ships & boats / ünïted?", None, "100 % wool"]
ENDS = [("ocr", "ok"), ("crop_zoom", "failed"), ("nowhere", "not_offered"), ("read_skill", "ok")]
STATUSES = ["answered", "answered", "answered", "timeout", "sandbox_error", "empty", "budget"]
VERDICTS: list[VerdictLabel | None] = ["incorrect", "correct", "partially_correct", None]


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """Two epochs of tasks with odd categories, of every status; two of three wrong answers are classified."""
    made = build_run("a run & more", epochs=2, sees=True)
    for number in range(24):
        facets = {"logic & type": f"kind {number % 2}"} if number % 3 else {}
        split = "public" if number % 3 else "real life"
        made.task(f"t{number}", split=split, top=TOPS[number % 4], source=f"s{number % 2}", facets=facets)
        for epoch in range(2):
            status = STATUSES[(number + epoch) % 7]
            verdict = VERDICTS[(number // 2 + epoch) % 4] if status == "answered" else None
            seconds = 239.0 + number if number % 5 == 0 else 10.0
            episode = made.episode(f"t{number}", epoch=epoch, status=status, verdict=verdict, seconds=seconds)  # type: ignore[arg-type]
            episode.step(ENDS[number % 4])
            if status in ("timeout", "sandbox_error"):
                boundary = "agent" if status == "timeout" else "model"
                episode.record["error"] = {"boundary": boundary, "kind": "late", "message": "late"}
    folder = made.finish()
    folder.trace_file(folder.episodes()[5]).unlink()
    jsonl.write_all(folder.failures_file, [row.model_dump(mode="json") for row in classified(folder)])
    return folder


def classified(folder: RunDir) -> list[Failure]:
    wrong = [cell for cell in cells(folder) if cell.outcome not in ("correct", "unjudged", "sandbox_error")]
    names = [*get_args(FailureLabel)[:3], None]
    return [
        Failure(
            id=cell.id, epoch=cell.epoch, taxonomy=VERSION, outcome=cell.outcome, label=names[place % 4],
            stage="facts" if names[place % 4] else "open", classifier="facts",
        )
        for place, cell in enumerate(wrong)
        if place % 3
    ]  # fmt: skip


def picks(page: str) -> dict[str, str]:
    """Name of a place on the page → the address that stands there."""
    found = re.findall(r'<div class="pick" id="(.*?)">.*?<code>(/run/.*?)</code>', page)
    return {name: address.replace("&amp;", "&") for name, address in found}


def listed(page: str, name: str) -> set[tuple[str, int]]:
    """(id, epoch) of the rows that the rule of a place leaves."""
    rows = re.findall(
        r'<tr class="([^"]*)"><th scope="row" class="text"><bdi>(.*?)</bdi></th><td>(\d)</td>', page
    )
    return {(id_, int(epoch)) for classes, id_, epoch in rows if name in classes.split()}


def test_each_link_and_its_address_choose_the_same_episodes(run: RunDir) -> None:
    page, index = render_html([summarise(run)]), Index(run)
    rows = index.snapshot().rows
    for name, address in (found := picks(page)).items():
        parts = urlsplit(address)
        assert Library([run.path]).run(unquote(parts.path.split("/")[2])) is not None
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        asked = Filter.of(query)
        shown = {row.record.key for row in asked.apply(rows, index).rows}
        assert listed(page, name) == shown != set(), address
        assert f"#{name}:target~.episodes tbody tr:not(.{name}){{display:none}}" in page
    assert len(found) > 30
    fields = {name for address in found.values() for name in parse_qs(urlsplit(address).query)}
    assert {"failure", "ended", "top", "split", "status", "source", "facet.logic & type", "least"} <= fields


def test_every_link_leads_to_a_place(run: RunDir) -> None:
    page = render_html([summarise(run), summarise(run)])
    places = set(re.findall(r' id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= places
    assert len(re.findall(r' id="', page)) == len(places)


def test_a_linked_figure_is_the_number_of_its_episodes(run: RunDir) -> None:
    summary = summarise(run)
    page = render_html([summary])
    cards = re.findall(r'<b>(\d+) of (\d+) wrong.*?<a href="#(.*?)">(\d+) episode', page, re.DOTALL)
    assert len(cards) == 6
    for count, of, name, told in cards:
        assert int(count) == int(told) == len(listed(page, name))
        assert int(of) == summary.failures.wrong == sum(round(each.share.count) for each in summary.clusters)


def test_a_run_of_a_study_has_the_name_that_the_inspector_gives_it(build_run: BuildRun) -> None:
    folder = build_run("study/arm").task("a").finish()
    assert folder.view_name == "arm"
    (folder.path.parent / "study.json").write_text("{}")
    assert folder.view_name == "study~arm"


def test_a_large_run_lists_some_episodes_and_says_how_many_are_left_out(run: RunDir) -> None:
    summary = summarise(run)
    many = [
        row.model_copy(update={"id": f"{row.id}-{copy}"}) for copy in range(150) for row in summary.episodes
    ]
    page = render_html([summary.model_copy(update={"episodes": many})])
    assert f"2000 of {len(many)} episodes, those that are not correct first" in page
    assert "of them listed here" in page
    assert page.count("<tr class=") < 2100
    assert len(page) < 2_000_000
