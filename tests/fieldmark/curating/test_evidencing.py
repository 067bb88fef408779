"""`curate evidence`: pages are kept, and what none of them supports is dropped."""

from __future__ import annotations

from pathlib import Path

from fieldmark.evals.curation.project import Project
from tests.conftest import Fieldmark


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
    arguments = ("curate", "evidence", str(project.folder), "--site", str(site.parent))
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


def test_a_bad_row_is_named_and_nothing_is_taken(
    project: Project, tmp_path: Path, fieldmark: Fieldmark
) -> None:
    csv = tmp_path / "urls.csv"
    name = next(project.candidates()).id
    csv.write_text(f"candidate,url\n{name},https://a.example/\n{name},file:///etc/passwd\n")
    done = fieldmark("curate", "evidence", str(project.folder), "--urls", str(csv))
    assert done.returncode == 2
    assert "line 3" in done.stderr
    assert project.decision("evidence", name) is None
