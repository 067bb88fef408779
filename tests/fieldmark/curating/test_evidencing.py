"""`curate evidence`: pages are kept, and what none of them supports is dropped."""

from __future__ import annotations

from pathlib import Path

from fieldmark.evals.curation.project import Project
from tests.conftest import Fieldmark
from tests.page_server import PageServer


def test_pages_support_an_answer_or_drop_it(project: Project, tmp_path: Path, fieldmark: Fieldmark) -> None:
    site = tmp_path / "site" / "museum.example"
    site.mkdir(parents=True)
    (site / "palace.html").write_text("<html><body><p>The Summer Palace stands in Beijing.</p></body></html>")
    names = {each.label: each.id for each in project.candidates("screen.hard")}
    for name, label in ((n, lab) for lab, n in names.items()):
        project.decide("leakage", name, "keep", "clean")
        told = {"label": label, "aliases": [], "urls": []}
        project.decide("audit", name, "keep", "two agree", evidence=told)
    csv = tmp_path / "urls.csv"
    csv.write_text(
        "candidate,url\n"
        f"{names['Summer Palace']},https://museum.example/palace.html\n"
        f"{names['Dahlia']},https://museum.example/palace.html\n"
        f"{names['Dahlia']},http://127.0.0.1/dahlia\n"
    )
    arguments = ("curate", "evidence", str(project.folder), "--site", str(site.parent), "--no-screenshots")
    done = fieldmark(*arguments, "--urls", str(csv))
    assert done.returncode == 0, done.stderr
    assert "3 new URLs attached" in done.stdout
    assert "evidence: 1 kept, 2 dropped" in done.stdout
    assert "museum.example" in done.stdout
    kept = project.decision("evidence", names["Summer Palace"])
    assert kept
    assert kept.evidence["urls"] == ["https://museum.example/palace.html"]
    assert (
        "Beijing" in (project.folder / "evidence" / "texts" / kept.evidence["pages"][0]["text"]).read_text()
    )
    lost = project.decision("evidence", names["Dahlia"])
    assert lost
    assert "loopback" in lost.why
    assert "names none of 'Dahlia'" in lost.why
    assert fieldmark(*arguments).stdout.startswith("evidence: 1 kept, 2 dropped, 0 open; 0 decided")


def test_without_docker_it_goes_on_without_screenshots(project: Project, fieldmark: Fieldmark) -> None:
    pages = {
        "/palace": "<p>Summer Palace</p>",
        "/moved": "→ /signin?next=/palace",
        "/signin": "Summer Palace",
    }
    names = {each.label: each.id for each in project.candidates("screen.hard")}
    for name in names.values():
        project.decide("leakage", name, "keep", "clean")
        project.decide("audit", name, "keep", "two agree")
    csv = project.folder / "urls.csv"
    with PageServer(pages) as server:
        rows = [f"{names['Summer Palace']},{server.origin}{path}" for path in ("/palace", "/moved", "/lost")]
        csv.write_text("candidate,url\n" + "\n".join(rows) + "\n")
        done = fieldmark(
            "curate", "evidence", str(project.folder), "--urls", str(csv),
            "--allow-local", server.origin.removeprefix("http://"), env={"DOCKER_HOST": "unix:///nowhere"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no screenshots are taken: no Docker engine answers") == 1
    kept = project.decision("evidence", names["Summer Palace"])
    assert kept
    assert kept.why == "1 of 3 pages support the answer"
    good, login, lost = kept.evidence["pages"]
    assert "no Docker engine" in good["no_screenshot"]
    assert "leads to a login" in login["problem"]
    assert lost["problem"] == "HTTP 404"
    shown = fieldmark("curate", "show", str(project.folder), names["Summer Palace"]).stdout
    assert f"/palace  sha256 {good['sha256'][:12]}: supports the answer, no screenshot: no Docker" in shown


def test_a_page_fetched_again_says_what_flipped(project: Project, fieldmark: Fieldmark) -> None:
    name = next(project.candidates("screen.hard"))
    project.decide("leakage", name.id, "keep", "clean")
    project.decide("audit", name.id, "keep", "two agree")
    csv = project.folder / "urls.csv"
    with PageServer({"/a": f"<p>{name.label}</p>"}) as server:
        csv.write_text(f"candidate,url\n{name.id},{server.origin}/a\n")
        place = ("--allow-local", server.origin.removeprefix("http://"), "--no-screenshots")
        fieldmark("curate", "evidence", str(project.folder), "--urls", str(csv), *place)
        server.pages.clear()
        same = fieldmark("curate", "evidence", str(project.folder), *place)
        assert "flipped" not in same.stdout
        again = fieldmark("curate", "evidence", str(project.folder), "--again", *place)
    assert f"flipped: {name.id} keep → drop" in again.stdout


def test_a_bad_row_is_named_and_nothing_is_taken(
    project: Project, tmp_path: Path, fieldmark: Fieldmark
) -> None:
    csv = tmp_path / "urls.csv"
    name = next(project.candidates()).id
    bad = {f"{name},file:///etc/passwd": "begins with http", "0123,https://a.example/": "no candidate 0123"}
    for row, told in bad.items():
        csv.write_text(f"candidate,url\n{name},https://a.example/\n{row}\n")
        refused(project, csv, fieldmark, told)


def refused(project: Project, csv: Path, fieldmark: Fieldmark, told: str) -> None:
    done = fieldmark("curate", "evidence", str(project.folder), "--urls", str(csv))
    assert done.returncode == 2
    assert "line 3" in done.stderr
    assert told in done.stderr
    assert not project.database.execute("SELECT * FROM decisions WHERE step = 'evidence'").fetchall()
