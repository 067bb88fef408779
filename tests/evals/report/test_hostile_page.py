"""What models, pages and file names may write, and what a damaged run holds, does no harm on a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from fieldmark import jsonl
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import render_html, write_html
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

HOSTILE = [
    "<script>window.__xss=1</script>",
    "</script><script>window.__xss=2</script>",
    "</style><img src=x onerror=window.__xss=3>",
    '"><svg onload=window.__xss=4>',
    "<b>bold?</b> <!-- ",
    "{{ 7 * 7 }} {% raw %}",
    "a & b < c > d \"q\" 'q'",
]


class Seen(HTMLParser):
    """The tags of a page and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def everywhere(build_run: BuildRun, text: str) -> RunDir:
    """A run in which a stranger's text stands wherever one can."""
    run = build_run(agent=text, model={"name": text, "sees": True}, tools=[text], limits={"note": text})
    run.task(text, split=text, top=text, mid=text)
    run.task("other", split="public", top="Nature", mid="Bird")
    run.episode(text, verdict="incorrect").step((text, "not_offered")).answer(text)
    run.episode("other", verdict="correct")
    return run.finish()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_shown_as_text(build_run: BuildRun, hostile: str) -> None:
    seen = Seen(render_html([summarise(everywhere(build_run, hostile))]))
    assert (seen.tags.count("script"), seen.tags.count("style"), seen.tags.count("img")) == (1, 1, 0)
    assert seen.handlers == []
    assert seen.text.count(hostile) >= 5


def test_control_characters_and_turned_text_do_not_reach_the_page(build_run: BuildRun) -> None:
    text = "\x1b[31mred \u202eturned \u2067 nul\x00 bell\x07\nnext"
    page = render_html([summarise(everywhere(build_run, text))])
    assert not set(page) & set("\x00\x07\x1b\u202e\u2067")
    assert "\ufffd[31mred \ufffdturned \ufffd nul\ufffd bell\ufffd\nnext" in page


def test_half_a_surrogate_pair_can_be_written_and_drawn(build_run: BuildRun) -> None:
    run = build_run().task("a", top="half HALF")
    run.episode("a", verdict="incorrect").answer("half HALF")
    folder = run.finish()
    for file in (folder.tasks_file, folder.episodes_file):
        file.write_text(file.read_text().replace("half HALF", "half \\ud83d"))
    write_html([summarise(folder)], folder.report_html)
    assert folder.report_html.read_text(encoding="utf-8").count("half ?") > 2


def test_texts_of_a_million_characters_are_cut(build_run: BuildRun) -> None:
    run = build_run().task("a", top="T" * 200_000)
    run.episode("a", verdict="incorrect").answer("A" * 1_000_000)
    page = render_html([summarise(run.finish())])
    assert "A" * 290 in page
    assert "A" * 301 not in page


def test_a_score_or_confidence_that_is_no_number_stays_off_the_page(build_run: BuildRun) -> None:
    run = build_run().task("n1").task("n2")
    run.episode("n1", verdict="correct")
    run.episode("n2", verdict="incorrect")
    folder = run.finish()
    told = folder.verdicts_file.read_text().replace("1.0", "NaN").replace("0.0", "Infinity")
    folder.verdicts_file.write_text(told)
    rows = [row | {"confidence": float("inf")} for row in jsonl.read(folder.episodes_file).rows]
    folder.episodes_file.write_text("".join(f"{row}\n".replace("'", '"') for row in rows))
    page = Seen(render_html([summarise(folder)])).text
    assert not re.search(r"\b(nan|inf|infinity)\b", page, re.IGNORECASE)


def test_a_run_without_anything_has_a_page(build_run: BuildRun) -> None:
    page = Seen(render_html([summarise(build_run().finish()), summarise(build_run("b").task("a").finish())]))
    assert "svg" in page.tags or page.tags.count("table") > 4
    assert "nan" not in page.text.casefold().split()
