"""What is known of the pictures of a folder: JSON lines, tables, sub-folders; bad rows by their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.tools.image_index.labels import Entry, read_entries

LION = Entry("cats/lion.jpg", "A lion, asleep", "lion", "https://zoo.example/1", "Zoo")


@pytest.mark.parametrize(
    "text",
    [
        "file\ttitle\tentity\tpage\tsource\ncats/lion.jpg\tA lion, asleep\tlion\thttps://zoo.example/1\tZoo\n",
        "\ufefffile_name\tCaption\tLABEL\tPage URL\tSite\r\n"
        "cats\\lion.jpg\t A lion,  asleep\tlion\thttps://zoo.example/1\tZoo\r\n\r\n",
        'image,title,class,url,origin\n./cats/lion.jpg,"A lion, asleep",lion,https://zoo.example/1,Zoo\n',
        '{"file": "cats/lion.jpg", "title": "A lion, asleep", "label": "lion", "license": null, '
        '"page": "https://zoo.example/1", "source": "Zoo"}\n\n',
    ],
    ids=["tsv", "tsv of a spreadsheet", "csv", "jsonl"],
)
def test_tables_and_json_lines_say_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "labels").write_bytes(text.encode())
    assert read_entries(tmp_path, tmp_path / "labels") == {"cats/lion.jpg": LION}


def test_quotes_in_a_tsv_are_only_quotes(tmp_path: Path) -> None:
    (tmp_path / "labels").write_text('file\ttitle\na.jpg\t"The 8" disk\nb.jpg\tnext\n')
    assert [entry.title for entry in read_entries(tmp_path, tmp_path / "labels").values()] == [
        '"The 8" disk',
        "next",
    ]


def test_a_missing_title_or_entity_is_taken_from_the_other_or_the_folder(tmp_path: Path) -> None:
    (tmp_path / "index.jsonl").write_text(
        '{"file": "a.jpg", "title": "t"}\n{"file": "b.jpg", "label": 7}\n{"file": "dogs/c.jpg"}\n'
    )
    known = [(entry.title, entry.entity) for entry in read_entries(tmp_path).values()]
    assert known == [("t", "t"), ("7", "7"), ("dogs", "dogs")]


def test_without_labels_the_sub_folder_is_the_entity(tmp_path: Path) -> None:
    for name in (
        "train/great dane/1.JPG",
        "train/pug/1.png",
        "alone.webp",
        "train/pug/notes.txt",
        ".x/a.jpg",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    known = {entry.file: entry.entity for entry in read_entries(tmp_path).values()}
    assert known == {"alone.webp": "alone", "train/great dane/1.JPG": "great dane", "train/pug/1.png": "pug"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"file": "a.jpg"}\n{broken\n', "labels, line 2: not JSON"),
        ('{"file": "a.jpg"}\n[1]\n', "labels, line 2: not a JSON object"),
        ('{"title": "no file"}\n', "labels, line 1: no file is named"),
        ('{"file": "../secret.png"}\n', "labels, line 1: ../secret.png lies outside the folder"),
        ('{"file": "a/../../secret.png"}\n', "line 1: a/../../secret.png lies outside"),
        ('{"file": "/etc/passwd"}\n', "line 1: /etc/passwd lies outside"),
        ('{"file": "a.jpg"}\n{"file": "./a.jpg"}\n', "labels, line 2: a.jpg was already on line 1"),
        ('{"file": "a.jpg", "label": ["x"]}\n', "labels, line 1: label: must be a text, not list"),
        ("title\tlabel\nx\ty\n", "labels, line 1: no column `file`"),
        ("file\ttitle\na.jpg\tx\ty\n", "labels, line 2: 3 fields under a header of 2"),
        ("file\ttitle\n\tx\n", "labels, line 2: no file is named"),
        ("file\ttitle\n", "labels: no pictures listed"),
        ("", "labels, line 1: no column"),
        ("file\ttitle\na.jpg\tcaf\xe9\n".encode("latin-1"), "labels: not UTF-8"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, text: str | bytes, says: str) -> None:
    (tmp_path / "labels").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError) as raised:
        read_entries(tmp_path, tmp_path / "labels")
    assert says in str(raised.value)
