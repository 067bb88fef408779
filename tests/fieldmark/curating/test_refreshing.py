"""`curate refresh`: what became of the pages that a release rests on, on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldmark.evals.curation.project import Project
from tests.conftest import Fieldmark
from tests.fieldmark.curating.conftest import PHOTOS
from tests.page_server import PageServer

PAGES = {
    "/spaniel": "<p>The Tibetan Spaniel is a small dog.</p>",
    "/palace": "<p>The Summer Palace stands in Beijing.</p>",
    "/palace-too": "<p>Summer Palace: opened in 1750.</p>",
    "/dahlia": "<p>A Dahlia.</p>",
}
SUPPORT = {
    "Tibetan Spaniel": ["/spaniel"],
    "Summer Palace": ["/palace", "/palace-too"],
    "Dahlia": ["/dahlia"],
}


@pytest.fixture
def site() -> Iterator[PageServer]:
    with PageServer(dict(PAGES)) as server:
        yield server


def refresh(fieldmark: Fieldmark, project: Project, site: PageServer, *more: str) -> tuple[int, str]:
    place = ("--allow-local", site.origin.removeprefix("http://"), "--no-screenshots")
    done = fieldmark("curate", "refresh", str(project.folder), "--only", "evidence", *place, *more)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def released(project: Project, site: PageServer, fieldmark: Fieldmark) -> Project:
    """Three items whose pages were fetched from the site."""
    lines = ["candidate,url"]
    for each in list(project.candidates("screen.hard")):
        project.decide("leakage", each.id, "keep", "clean")
        project.decide("audit", each.id, "keep", "two agree", evidence={"label": each.label})
        lines += [f"{each.id},{site.origin}{path}" for path in SUPPORT[each.label]]
    csv = project.folder / "urls.csv"
    csv.write_text("\n".join(lines) + "\n")
    place = ("--allow-local", site.origin.removeprefix("http://"), "--no-screenshots")
    done = fieldmark("curate", "evidence", str(project.folder), "--urls", str(csv), *place)
    assert "evidence: 3 kept, 0 dropped" in done.stdout, done.stderr
    for each in list(project.candidates("evidence")):
        names = {"top": {"en": "Nature", "zh": "自然"}, "mid": {"en": "Things", "zh": "东西"}}
        project.decide("taxonomy", each.id, "keep", "placed", evidence=names)
        asked = {"question": "What is it?", "language": "en"}
        project.decide("questions", each.id, "keep", "asked", evidence=asked)
    return project


def decisions(project: Project) -> list[tuple[object, ...]]:
    return project.database.execute("SELECT * FROM decisions ORDER BY id").fetchall()


def test_nothing_changed(released: Project, site: PageServer, fieldmark: Fieldmark) -> None:
    code, told = refresh(fieldmark, released, site)
    assert code == 0, told
    assert "0 of 3 items lost all support; 4 pages: 4 same" in told


def test_drift_is_told_and_decides_nothing(released: Project, site: PageServer, fieldmark: Fieldmark) -> None:
    before = decisions(released)
    kept = released.folder / "evidence" / "index.jsonl"
    archive = kept.read_bytes()
    site.pages["/spaniel"] = "<p>The Tibetan Spaniel is a dog of temples.</p>"
    site.pages["/palace"] = "<div><p>The Summer Palace stands in Beijing.</p></div>"
    del site.pages["/palace-too"]
    site.pages["/dahlia"] = "→ /login"
    site.pages["/login"] = "<p>Sign in to read about Dahlia.</p>"
    code, told = refresh(fieldmark, released, site)
    assert code == 1
    assert "1 of 3 items lost all support" in told
    [file] = (released.folder / "refresh").glob("*.json")
    drift = json.loads(file.read_text())["evidence"]
    changes = {row["url"].removeprefix(site.origin): row for row in drift["pages"]}
    assert {path: row["change"] for path, row in changes.items()} == {
        "/spaniel": "text", "/palace": "markup", "/palace-too": "gone", "/dahlia": "unsupported",
    }  # fmt: skip
    assert "leads to a login" in changes["/dahlia"]["why"]
    assert changes["/spaniel"]["was"] != changes["/spaniel"]["is_now"]
    labels = {released.candidate(name).label for name in drift["lost"]}
    assert labels == {"Dahlia"}
    assert decisions(released) == before
    assert kept.read_bytes() == archive
    assert len(list(released.candidates("questions"))) == len(PHOTOS)


def test_a_site_that_is_down_is_told_of_every_item(
    released: Project, fieldmark: Fieldmark, site: PageServer, tmp_path: Path
) -> None:
    (tmp_path / "site" / "elsewhere.example").mkdir(parents=True)
    code, told = refresh(fieldmark, released, site, "--site", str(tmp_path / "site"))
    assert code == 1
    assert "3 of 3 items lost all support; 4 pages: 4 gone" in told


def test_without_a_release_there_is_nothing_to_refresh(
    project: Project, fieldmark: Fieldmark, site: PageServer
) -> None:
    code, told = refresh(fieldmark, project, site)
    assert code == 2
    assert "nothing to look at again" in told
