"""A curation of three real photos that both screens kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fieldmark.evals.curation.importing import decide_import, import_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.sources.reading import read

MINI = Path(__file__).parents[3] / "evals" / "benchmarks" / "fieldmark_mini"
PHOTOS = {"Tibetan Spaniel": "m05.jpg", "Summer Palace": "m10.jpg", "Dahlia": "m13.jpg"}
"""Class → photo; the names are this test's own."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name, file in PHOTOS.items():
        (tmp_path / "photos" / name).mkdir(parents=True)
        shutil.copy(MINI / "images" / file, tmp_path / "photos" / name)
    made = Project.create(tmp_path / "set")
    toml = made.folder / "curate.toml"
    toml.write_text(toml.read_text().replace("min_images = 2", "min_images = 1"))
    made.close()
    made = Project.open(made.folder)
    import_all(made, "photos", read(tmp_path / "photos", None, "CC0-1.0"), lambda read: None)
    decide_import(made)
    for each in list(made.candidates()):
        made.decide("screen.first", each.id, "keep", "a hard class")
        made.decide("screen.hard", each.id, "keep", "answered wrongly")
    return made
