"""FIKA-Bench from data of the user's own: shapes that are understood, what is refused, what is recorded."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks import Benchmark, load_benchmark
from tests.evals.benchmarks import fika_data
from tests.evals.benchmarks.fika_data import ITEMS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fieldmark" / "data"


def fika(data: Path, **said: str) -> Benchmark:
    return load_benchmark("fika", data, said)


def refusal(data: Path, **said: str) -> str:
    with pytest.raises(UsageError) as caught:
        fika(data, **said)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def zipped(folder: Path) -> Path:
    return fika_data.archive(folder, folder / ".made")


SHAPES: dict[str, Callable[[Path], Path]] = {
    "jsonl": fika_data.jsonl,
    "folder": lambda folder: fika_data.jsonl(folder).parent,
    "json, nested, by split": fika_data.by_split,
    "csv, two columns a label": fika_data.table,
    "zip": zipped,
    "folder of the zip": lambda folder: zipped(folder).parent,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_tasks(tmp_path: Path, shape: str) -> None:
    (tmp_path / "in").mkdir()
    loaded = fika(SHAPES[shape](tmp_path / "in"))
    assert loaded.name == "fika"
    assert loaded.warnings == []
    for task, item in zip(loaded.tasks, ITEMS, strict=True):
        assert (task.id, task.question) == (item["id"], item["question"])
        assert (task.gold.answer, task.gold.aliases) == (item["answer"], item["aliases"])
        assert task.gold.evidence == item["evidence"]
        assert (task.labels.split, task.labels.language) == (item["split"], item["language"])
        assert (task.labels.top, task.labels.mid) == (item["top"][1], item["mid"][1])
        assert task.image.is_file()


def test_what_was_told_from_the_data_is_recorded_and_no_value_of_it(tmp_path: Path) -> None:
    told = fika(fika_data.table(tmp_path)).data
    assert told["mapping"]["answer"] == "Reference Answer"
    assert told["mapping"]["top"] == "category_en"
    assert told["pictures"] == "images"
    assert told["language_from"] == "(the writing of the question)"
    assert told["unused_keys"] == ["category_zh", "subcategory_zh"]
    assert len(told["sha256"]) == 64
    text = json.dumps(told, ensure_ascii=False)
    assert not [item for item in ITEMS if item["answer"] in text or item["evidence"][0] in text]


def test_keys_that_cannot_be_told_are_named_and_can_be_said(tmp_path: Path) -> None:
    rows = [fika_data.odd(number, item) for number, item in enumerate(ITEMS)]
    path = fika_data.jsonl(tmp_path, rows)
    message = refusal(path)
    for word in ("id, image, question, answer", "nr, pic, ask, truth", "--map id=KEY"):
        assert word in message
    said = {"id": "nr", "image": "pic", "question": "ask", "answer": "truth"}
    loaded = fika(path, **said)
    assert [task.gold.answer for task in loaded.tasks] == [item["answer"] for item in ITEMS]
    assert loaded.data["mapping_said"] == sorted(said)
    assert "did you mean nr?" in refusal(path, **{**said, "id": "nrr"})
    assert "the fields are id, image" in refusal(path, **said, ids="nr")


@pytest.mark.parametrize("answer", ["", None, "   ", [], "\u200b"])
def test_an_empty_reference_is_refused_with_id_and_line(tmp_path: Path, answer: Any) -> None:
    rows = [fika_data.plain(number, item) for number, item in enumerate(ITEMS)]
    rows[2]["answer"] = answer
    message = refusal(fika_data.jsonl(tmp_path, rows))
    assert "line 3: empty or missing reference answer (id 'r-001')" in message


def test_a_duplicate_id_is_refused_with_both_lines(tmp_path: Path) -> None:
    rows = [fika_data.plain(number, item) for number, item in enumerate(ITEMS)]
    rows[3]["id"] = rows[0]["id"]
    assert "id 'p-001' stands on lines 1 and 4" in refusal(fika_data.jsonl(tmp_path, rows))


def test_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    ids = ["007", "73928e05", "1-2", "12345678901234567890"]
    path = fika_data.table(tmp_path)
    text = path.read_text(encoding="utf-8-sig")
    for item, name in zip(ITEMS, ids, strict=True):
        text = text.replace(item["id"], name)
    path.write_text(text, encoding="utf-8")
    assert [task.id for task in fika(path).tasks] == ids


def test_a_zip_that_is_not_what_its_sha256_says_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path)
    assert fika(path).data["sha256_file"] == "agrees"
    path.with_suffix(".sha256").write_text("0" * 64 + f"  {path.name}\n")
    assert "is not what fika-bench-testset.sha256 says" in refusal(path)
    path.with_suffix(".sha256").unlink()
    assert fika(path).data["sha256_file"] == "none"


def test_the_unpacked_zip_is_the_owners_alone_and_mended_when_touched(tmp_path: Path, cache: Path) -> None:
    path = zipped(tmp_path)
    first = fika(path)
    for folder in (cache, *cache.iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    first.tasks[0].image.write_bytes(b"changed")
    assert fika(path).version == first.version
    assert first.tasks[0].image.read_bytes() != b"changed"
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("name", ["../out.png", "/abs.png", "a/../../b.png", "C:/x.png", "..\\x.png"])
def test_a_member_that_leads_out_is_refused(tmp_path: Path, cache: Path, name: str) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    assert "leads out of the folder" in refusal(path)
    assert list(cache.iterdir()) == []


def test_links_and_damage_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "is a link or a device" in refusal(tmp_path / "link.zip")
    (tmp_path / "cut.zip").write_bytes(zipped(tmp_path).read_bytes()[:900])
    assert "damaged" in refusal(tmp_path / "cut.zip")


def test_a_changed_picture_or_mapping_is_another_version(tmp_path: Path) -> None:
    path = fika_data.jsonl(tmp_path)
    first = fika(path).version
    assert fika(path).version == first
    assert fika(path, top="mid").version != first
    shutil.copy(tmp_path / "images" / "0.png", tmp_path / "images" / "1.png")
    assert fika(path).version != first


def test_a_picture_outside_is_refused(tmp_path: Path) -> None:
    rows = [{**fika_data.plain(0, ITEMS[0]), "image": "../../secret.png"}]
    assert "outside the folder" in refusal(fika_data.jsonl(tmp_path, rows))


def test_other_files_get_one_line(tmp_path: Path) -> None:
    assert "is not there" in refusal(tmp_path / "no.zip")
    assert "no manifest" in refusal(tmp_path)
    (tmp_path / "a.json").write_text('{"a": 1}')
    assert "is no list of items" in refusal(tmp_path)
    (tmp_path / "a.json").write_text('[\n{"id": 1,,}]')
    assert "a.json: line 2: malformed JSON" in refusal(tmp_path)
    (tmp_path / "b.csv").write_text("id\n")
    assert "2 files that could be the manifest (a.json, b.csv)" in refusal(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    assert "pyarrow" in refusal(tmp_path / "x.parquet") or "no parquet" in refusal(tmp_path / "x.parquet")
    (tmp_path / "x.txt").write_text("x")
    assert "x.txt is no zip" in refusal(tmp_path / "x.txt")


def test_an_unknown_top_category_stays_with_a_warning(tmp_path: Path) -> None:
    rows = [{**fika_data.plain(0, ITEMS[0]), "top": "气象 / Weather"}]
    loaded = fika(fika_data.jsonl(tmp_path, rows))
    assert loaded.tasks[0].labels.top == "Weather"
    assert "Weather" in loaded.warnings[0]


def test_ids_of_a_csv_that_look_like_numbers_dates_or_formulas_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = ['007,x.jpg,q?,"=HYPERLINK(""http://example.invalid"")"', "73928e05,x.jpg,q?,+1-2"]
    rows += ["1-2,x.jpg,q?,@SUM(1)", "12345678901234567890,x.jpg,这是什么？,运-20"]
    path.write_text("\ufeffid,image,question,answer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    loaded = fika(path).tasks
    assert [task.id for task in loaded] == ["007", "73928e05", "1-2", "12345678901234567890"]
    answers = [task.gold.answer for task in loaded]
    assert answers == ['=HYPERLINK("http://example.invalid")', "+1-2", "@SUM(1)", "运-20"]
