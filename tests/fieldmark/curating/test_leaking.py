"""`curate leakage` with a static site in the web's place: by a local index, and by Google Lens."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from fieldmark.evals.curation.project import Project
from tests.conftest import Fieldmark
from tests.serpapi_server import KEY, Answer, Asked, SerpApiServer, success


@pytest.fixture
def web(project: Project, tmp_path: Path) -> tuple[Path, Path]:
    """The spaniel stands in a page that names it, the palace mirrored in one that does not."""
    index, site = tmp_path / "index", tmp_path / "site" / "photos.example"
    index.mkdir()
    site.mkdir(parents=True)
    labels = {each.label: Image.open(project.picture(each)).convert("RGB") for each in project.candidates()}
    page = Image.new("RGB", (1000, 800), "white")
    page.paste(ImageOps.contain(labels["Tibetan Spaniel"], (480, 480)), (400, 100))
    page.save(index / "a.png")
    ImageOps.mirror(labels["Summer Palace"]).save(index / "b.jpg")
    rows = [("a.png", "dog"), ("b.jpg", "holiday")]
    for _, name in rows:
        text = "Our Tibetan Spaniel in summer" if name == "dog" else "Somewhere in Asia"
        (site / f"{name}.html").write_text(f"<html><body><p>{text}</p></body></html>")
    lines = [{"file": f, "title": n, "page": f"https://photos.example/{n}.html"} for f, n in rows]
    (index / "index.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return index, site.parent


def statuses(project: Project) -> dict[str, str]:
    found = {each.label: project.decision("leakage", each.id) for each in project.candidates("screen.hard")}
    return {label: row.evidence["status"] for label, row in found.items() if row}


def test_copies_are_told_by_what_stands_beside_them(
    project: Project, web: tuple[Path, Path], fieldmark: Fieldmark
) -> None:
    folder, (index, site) = str(project.folder), web
    done = fieldmark("curate", "leakage", folder, "--index", str(index), "--site", str(site))
    assert done.returncode == 0, done.stderr
    assert "leakage: 2 kept, 1 dropped" in done.stdout
    assert statuses(project) == {"Tibetan Spaniel": "leaked", "Summer Palace": "copied", "Dahlia": "clean"}
    [dog] = [each for each in project.candidates("screen.hard") if each.label == "Tibetan Spaniel"]
    decision = project.decision("leakage", dog.id)
    assert decision
    [hit] = [row for row in decision.evidence["hits"] if row["overlay"]]
    assert hit["region"][0] == pytest.approx(400, abs=12)
    assert (project.folder / hit["overlay"]).stat().st_size > 1000

    again = fieldmark("curate", "leakage", folder, "--index", str(index), "--site", str(site))
    assert "0 decided for the first time" in again.stdout
    assert len(project.history(dog.id, "leakage")) == 1

    toml = project.folder / "curate.toml"
    toml.write_text(toml.read_text().replace("sources = []", 'sources = ["photos.example/holiday.html"]'))
    flipped = fieldmark("curate", "leakage", folder)
    assert flipped.stdout.count("flipped") == 1
    assert statuses(project)["Summer Palace"] == "leaked"


def lens_hits(asked: Asked) -> Answer:
    """For every picture the spaniel in its page; for the third also one whose file is gone."""
    matches = [("Holiday", "dog.html", "a.png"), ("Gone", "holiday.html", "no.png")]
    site = "https://photos.example/"
    rows = [{"title": title, "link": site + page, "image": site + file} for title, page, file in matches]
    return success(asked, visual_matches=rows if asked["image_id"] == "img3" else rows[:1])


def test_google_lens_gets_every_picture_and_its_hits_are_fetched_and_verified(
    project: Project, web: tuple[Path, Path], fieldmark: Fieldmark
) -> None:
    index, site = web
    shutil.copy(index / "a.png", site / "photos.example")
    order = [each.label for each in project.candidates("screen.hard")]
    with SerpApiServer(lens_hits) as server:
        command = ("curate", "leakage", str(project.folder), "--site", str(site))
        kept = fieldmark(*command, env=server.env)
        assert "3 were never searched for: name an --index, or --allow-upload" in kept.stdout
        assert (server.uploads, server.asked) == ([], [])
        done = fieldmark(*command, "--allow-upload", env=server.env)
        fieldmark(*command, "--allow-upload", env=server.env)
    assert done.returncode == 0, done.stderr
    assert {asked["engine"] for asked in server.asked} == {"google_lens"}
    assert [Image.open(io.BytesIO(sent)).format for sent in server.uploads] == ["JPEG"] * 3
    found = statuses(project)
    assert found["Tibetan Spaniel"] == "leaked"
    assert found[order[2]] == ("leaked" if order[2] == "Tibetan Spaniel" else "undetermined")
    assert {found[name] for name in order[:2] if name != "Tibetan Spaniel"} == {"clean"}
    assert KEY not in done.stdout + done.stderr
