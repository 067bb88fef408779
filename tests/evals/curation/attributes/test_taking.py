"""Pictures taken in for labelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.curation.attributes.state import State
from fieldmark.evals.curation.attributes.taking import take_in
from fieldmark.evals.curation.importing import decide_import, import_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.sources.reading import read
from tests.evals.curation.pictures import save


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two pictures, one of them twice, and a file that is none."""
    save(tmp_path / "photos" / "one.png", 1)
    save(tmp_path / "photos" / "more" / "two.png", 2)
    save(tmp_path / "photos" / "more" / "one again.png", 1)
    (tmp_path / "photos" / "broken.png").write_text("no picture")
    return tmp_path / "photos"


def taken(tmp_path: Path, place: Path) -> list[str]:
    """Origins, of what is in the folder after it; each picture lies there."""
    folder = tmp_path / "set"
    folder.mkdir(exist_ok=True)
    with State(folder) as state:
        take_in(folder, state, place)
        assert all((folder / each.path).is_file() for each in state.pictures())
        return sorted(each.origin for each in state.pictures())


def test_a_folder_at_any_depth_each_picture_once(tmp_path: Path, photos: Path) -> None:
    assert taken(tmp_path, photos) == ["more/two.png", "one.png"]
    assert taken(tmp_path, photos) == ["more/two.png", "one.png"]


def test_what_cannot_be_read_is_told(tmp_path: Path, photos: Path) -> None:
    with State(tmp_path) as state:
        found = take_in(tmp_path, state, photos)
    assert (found.read, found.new) == (4, 2)
    assert [origin for origin, _ in found.problems] == ["broken.png"]


def test_a_csv_file(tmp_path: Path, photos: Path) -> None:
    (photos / "rows.csv").write_text("image,name\none.png,x\nmore/two.png,y\n")
    assert taken(tmp_path, photos / "rows.csv") == ["more/two.png", "one.png"]
    (photos / "rows.csv").write_text("file\none.png\n")
    with pytest.raises(UsageError, match="line 2: no image"):
        taken(tmp_path, photos / "rows.csv")


def test_of_a_curation_what_its_import_keeps(tmp_path: Path) -> None:
    for number in range(3):
        save(tmp_path / "in" / ("heron" if number else "egret") / f"{number}.png", number)
    with Project.create(tmp_path / "curation") as project:
        import_all(project, "in", read(tmp_path / "in", licence="CC0-1.0"), lambda _: None)
        decide_import(project)
        kept = [each.id for each in project.candidates(after="import")]
    assert len(kept) == 2, "a class with one picture is dropped"
    assert taken(tmp_path, tmp_path / "curation") == sorted(kept)


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in ("empty", "missing"):
        with pytest.raises(UsageError, match="name"):
            taken(tmp_path, tmp_path / place)
