"""Taxonomy, questions and the frozen archive: what enters, what gives an answer away, what is loaded."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.evals.curation.archive import freeze
from fieldmark.evals.curation.deciding import Said, decide_all
from fieldmark.evals.curation.importing import decide_import, import_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.questions import given_away, question_all
from fieldmark.evals.curation.records import Step
from fieldmark.evals.curation.sources.reading import read
from fieldmark.evals.curation.taxonomy import categorise, read_taxonomy, template
from fieldmark.model_config import ModelConfig
from tests.evals.curation.pictures import save

TAXONOMY = """
[[category]]
top = { en = "Nature", zh = "自然" }
mid = { en = "Birds", zh = "鸟类" }
classes = ["heron"]
language = "zh"
questions = { en = ["Which bird is this?"], zh = ["这是什么鸟？"] }

[[category]]
top = { en = "Transport", zh = "交通" }
mid = { en = "Aircraft", zh = "飞机" }
classes = ["737"]
questions = { en = ["Which variant of the Boeing 737-900ER is this?"] }
"""
URLS = {"urls": [{"url": "https://www.example.org/heron"}, {"url": "https://birds.example.com/1"}]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Four candidates of three classes, all kept until the evidence; `heron` corrected by the audit."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number, name in enumerate(("heron", "heron", "737", "rock")):
        save(tmp_path / "in" / name / f"{number}.jpg", number)
    made = Project.create(tmp_path / "set")
    text = (made.folder / "curate.toml").read_text()
    text = text.replace('licence = "" ', 'licence = "CC-BY-4.0" ').replace("min_images = 2", "min_images = 1")
    (made.folder / "curate.toml").write_text(text)
    made = Project.open(made.folder)
    import_all(made, "photos", read(tmp_path / "in", licence="CC0-1.0"))
    decide_import(made)
    said: dict[str, dict[str, Any]] = {
        "heron": {"label": "grey heron", "aliases": ["Ardea cinerea"]}, "737": {"label": "Boeing 737-900ER"},
    }  # fmt: skip
    steps: list[Step] = ["screen.first", "screen.hard", "leakage", "audit", "evidence"]
    for step in steps:
        evidence = {"evidence": dict.fromkeys(("heron", "737", "rock"), URLS), "audit": said}.get(step, {})
        decide_all(made, step, [
            Said(each.id, "keep", "", evidence.get(each.class_name, {})) for each in made.candidates()
        ])  # fmt: skip
    (made.folder / "taxonomy.toml").write_text(TAXONOMY)
    return made


def finish(project: Project) -> None:
    found = read_taxonomy(project)
    decide_all(project, "taxonomy", categorise(project.candidates(after="evidence"), found))
    decide_all(project, "questions", question_all(project, project.candidates(after="taxonomy"), found))


def whys(project: Project, step: Step) -> Iterator[str]:
    for each in project.candidates():
        decided = project.decision(step, each.id)
        if decided and decided.verdict == "open":
            yield decided.why


def test_what_has_no_place_or_says_its_answer_stays_out(project: Project) -> None:
    finish(project)
    assert list(whys(project, "taxonomy")) == ["the class rock is in no category"]
    assert list(whys(project, "questions")) == ["the question says 'Boeing 737-900ER'"]
    assert {each.class_name for each in project.candidates(after="questions")} == {"heron"}


@pytest.mark.parametrize(
    ("question", "leak"),
    [("Which heron is this, a GREY heron?", True), ("Which heron is this?", False), ("这是苍鹭吗？", True)],
)
def test_an_answer_in_the_wording_is_found(question: str, leak: bool) -> None:
    assert bool(given_away(question, ["grey heron", "苍鹭"])) is leak


def test_a_release_is_a_benchmark_and_twice_the_same(project: Project) -> None:
    served = ModelConfig(name="some-vlm", base_url="http://10.0.0.7/v1")
    project.settings.screen.hard.models = [ModelConfig(name="builtin/scout"), served]
    finish(project)
    one, two = freeze(project), freeze(project)
    assert (one.sha256, one.is_new, two.is_new, one.items) == (two.sha256, True, False, 2)
    loaded = load_benchmark("fika", one.path, None, {})
    task = loaded.tasks[0]
    assert (task.gold.answer, task.gold.aliases) == ("grey heron", ["Ardea cinerea"])
    assert (task.question, task.labels.language) == ("这是什么鸟？", "zh")
    assert (task.labels.top, task.labels.mid, task.labels.source) == ("Nature", "Birds", "photos")
    assert task.gold.evidence == ["https://www.example.org/heron", "https://birds.example.com/1"]
    assert loaded.data["sha256_file"] == "agrees"
    with zipfile.ZipFile(one.path) as archive:
        names = {name.removeprefix("data/") for name in archive.namelist()}
        told = json.loads(archive.read("data/statistics.json"))
        sheet = archive.read("data/README.md").decode()
    assert {"README.md", "LICENCE.txt", "SHA256SUMS", "categories.svg", "attribution.tsv"} <= names
    assert (told["items"], told["evidence_links"], told["evidence_domains"]) == (2, 4, 2)
    assert told["corrected_labels"] == 2
    assert "| Nature | Birds | 2 |" in sheet
    assert "| screen.hard | builtin/scout | none |" in sheet
    assert "| screen.hard | some-vlm | shown |" in sheet
    assert "10.0.0.7" not in sheet + json.dumps(told)


def test_a_version_is_never_written_anew(project: Project) -> None:
    finish(project)
    freeze(project)
    name = next(project.candidates(after="questions")).id
    project.decide("leakage", name, "drop", "leaked", who="ann")
    with pytest.raises(UsageError, match="raise it"):
        freeze(project)


def test_a_release_without_a_licence_or_an_item_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="no candidate is kept"):
        freeze(project)
    project.settings.release.licence = " "
    with pytest.raises(UsageError, match="no licence"):
        freeze(project)


def test_the_taxonomy_to_fill_in_names_every_class(project: Project) -> None:
    (project.folder / "taxonomy.toml").write_text(template(['"odd" name', "heron"]))
    with pytest.raises(UsageError, match="top"):
        read_taxonomy(project)
    (project.folder / "taxonomy.toml").write_text(TAXONOMY.replace('"737"', '"heron"'))
    with pytest.raises(UsageError, match="stands twice"):
        read_taxonomy(project)
