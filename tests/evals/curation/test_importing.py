"""Candidates from folders and tables: copies are one, doubts are dropped, what a file says stays inside."""

from __future__ import annotations

import io
import json
from pathlib import Path

import duckdb
import pytest
from PIL import Image

from fieldmark.errors import UsageError
from fieldmark.evals.curation.importing import Imported, decide_import, import_all
from fieldmark.evals.curation.near import near_pairs
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.sources.reading import read
from tests.evals.curation.pictures import picture, save


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "set")


def take(project: Project, place: Path, licence: str = "CC0-1.0") -> Imported:
    return import_all(project, "photos", read(place, licence=licence))


def verdicts(project: Project) -> dict[str, str]:
    """Origin → why, of what is dropped; `usable` of what is kept."""
    return {
        each.provenance["origin"]: decided.why
        for each in project.candidates()
        if (decided := project.decision("import", each.id))
    }


def test_a_folder_for_each_class(project: Project, tmp_path: Path) -> None:
    for number in range(4):
        save(tmp_path / "in" / ("grey_heron" if number < 2 else "little egret") / f"{number}.jpg", number)
    told = take(project, tmp_path / "in")
    decide_import(project)
    assert (told.read, told.added) == (4, 4)
    assert {each.label for each in project.candidates(after="import")} == {"grey heron", "little egret"}
    again = take(project, tmp_path / "in")
    assert (again.known, again.added) == (4, 0)
    assert decide_import(project).new == 0


def test_exact_and_near_copies_are_one(project: Project, tmp_path: Path) -> None:
    place = tmp_path / "in" / "heron"
    save(place / "a.png", 1)
    save(place / "b.png", 2)
    save(place / "c-same-pixels.png", 1, compress_level=0)
    picture(1).save(place / "d-worse.jpg", quality=60)
    picture(1).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(place / "e-mirrored.png")
    told = take(project, tmp_path / "in")
    decide_import(project)
    assert told.merged == 1
    said = verdicts(project)
    assert said["heron/a.png"] == said["heron/b.png"] == "usable"
    assert said["heron/d-worse.jpg"].startswith("near copy of")
    assert said["heron/e-mirrored.png"].startswith("near copy of")


def test_doubts_are_dropped_and_told(project: Project, tmp_path: Path) -> None:
    place = tmp_path / "in"
    for number in (1, 2):
        save(place / "heron" / f"{number}.png", number)
    save(place / "egret" / "1-again.png", 1)
    save(place / "alone" / "9.png", 9)
    (place / "heron" / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    told = take(project, place)
    decide_import(project)
    said = verdicts(project)
    assert [origin for origin, _ in told.problems] == ["photos:heron/broken.jpg"]
    assert said["alone/9.png"] == "its class has 1 of 2 pictures"
    assert "is of the class egret and of heron" in said["egret/1-again.png"]
    assert list(project.candidates(after="import")) == []


def test_a_licence_is_needed_and_can_be_said_later(project: Project, tmp_path: Path) -> None:
    for number in (1, 2):
        save(tmp_path / "in" / "heron" / f"{number}.png", number)
    take(project, tmp_path / "in", licence="")
    assert decide_import(project).counts["drop"] == 2
    take(project, tmp_path / "in", licence="CC0-1.0")
    assert [flip[1:3] for flip in decide_import(project).flips] == [("drop", "keep")] * 2


def test_what_a_file_says_of_itself_stays_in_the_project(project: Project, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Heron Optics"
    save(tmp_path / "in" / "heron" / "1.jpg", 1, exif=exif)
    take(project, tmp_path / "in")
    one = next(project.candidates())
    assert one.exif["Make"] == "Heron Optics"
    kept = project.picture(one)
    assert b"Heron" not in kept.read_bytes()
    assert "heron" not in str(kept.relative_to(project.folder))


def test_tables_and_hugging_face_folders(project: Project, tmp_path: Path) -> None:
    save(tmp_path / "csv" / "a.png", 1)
    (tmp_path / "csv" / "set.csv").write_text("file_name,label,license,author\na.png,heron,CC-BY-4.0,Ann\n")
    take(project, tmp_path / "csv" / "set.csv")
    one = next(project.candidates())
    assert (one.licence, one.provenance["author"]) == ("CC-BY-4.0", "Ann")

    hub = tmp_path / "hub" / "train"
    save(hub / "b.png", 2)
    (hub / "metadata.jsonl").write_text(json.dumps({"file_name": "b.png", "label": "egret"}))
    assert [found.origin for found in read(tmp_path / "hub")] == ["train/metadata.jsonl/b.png"]

    buffer = io.BytesIO()
    picture(3).save(buffer, "PNG")
    info = json.dumps({"info": {"features": {"label": {"names": ["egret", "grey_heron"]}}}})
    (tmp_path / "pq").mkdir()
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t AS SELECT {'bytes': ?::BLOB, 'path': 'x.png'} AS image, 1 AS label",
                         [buffer.getvalue()])  # fmt: skip
        database.execute(
            f"COPY t TO '{tmp_path}/pq/0.parquet' (FORMAT parquet, KV_METADATA {{huggingface: '{info}'}})"
        )
    (found,) = read(tmp_path / "pq")
    assert (found.class_name, found.label, found.picture) == ("grey_heron", "grey heron", buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("set.csv", "picture,kind\na.png,heron\n", "no column label"),
        ("set.jsonl", '{"image": "../../a.png", "label": "heron"}\n', "leads out of"),
        ("set.jsonl", '{"image": "a.png", "label": ""}\n', "no label"),
        ("set.txt", "", "name one of these"),
    ],
)
def test_a_bad_table_is_told_in_a_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=told):
        list(read(tmp_path / name))


def test_pictures_too_flat_for_a_hash_are_near_to_none() -> None:
    assert list(near_pairs([("a", bytes(32)), ("b", bytes(32))], 31)) == []
