"""`fieldmark index` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Fieldmark
from tests.tools.pictures import jpeg, png, scene

SMALL = (200, 160)
TABLE = (
    "\ufefffile\ttitle\tlabel\tpage\na.png\t街景\tstreet\thttps://maps.example/1\nb.jpg\tA square\tsquare\t\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "places"
    path.mkdir()
    (path / "a.png").write_bytes(png(scene(1, SMALL)))
    (path / "b.jpg").write_bytes(jpeg(scene(2, SMALL)))
    (path / "labels.tsv").write_text(TABLE, "utf-8")
    return path


def test_build_then_query_by_a_box_then_the_tool(fieldmark: Fieldmark, folder: Path, tmp_path: Path) -> None:
    done = fieldmark("index", "build", folder, "--labels", folder / "labels.tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 pictures in the index: 2 new or changed" in done.stdout

    page = scene(50, (600, 400))
    page.paste(scene(1, SMALL), (300, 200))
    (tmp_path / "page.png").write_bytes(png(page))
    box = ["--box", "300,200,500,360"]
    done = fieldmark("index", "query", folder, "--image", tmp_path / "page.png", *box)
    assert done.stdout.startswith("1. 街景 [street], https://maps.example/1: score 1.00, the same picture")
    done = fieldmark("index", "query", folder, "--image", tmp_path / "page.png", *box, "--limit", 1, "--json")
    hits = json.loads(done.stdout)["hits"]
    assert [(hit["entity"], hit["same_picture"], hit["image"]) for hit in hits] == [
        ("street", True, "index:1")
    ]

    arguments = ["--image", tmp_path / "page.png", "--index", folder]
    done = fieldmark("tool", "reverse_image_search", *arguments)
    assert json.loads(done.stdout)["data"]["hits"][0]["title"] == "街景"


def test_broken_pictures_are_named_and_the_index_is_built(fieldmark: Fieldmark, folder: Path) -> None:
    (folder / "c.png").write_bytes(b"")
    done = fieldmark("index", "build", folder)
    assert done.returncode == 1
    assert done.stderr == "c.png: the file is empty (0 bytes): download it again\n"
    assert "2 pictures in the index: 2 new or changed, 1 broken left out" in done.stdout
    done = fieldmark("index", "build", folder, "--json")
    assert done.returncode == 1
    row = json.loads(done.stdout)
    assert (row["pictures"], row["described"], len(row["problems"])) == (2, 0, 1)
    done = fieldmark("index", "query", folder, "--image", folder / "a.png")
    assert done.stdout.startswith("1. a: score")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "{folder}", "--labels", "{folder}/bad.tsv"], "bad.tsv, line 3: ../x.png lies outside"),
        (["build", "{folder}/nowhere"], "does not exist"),
        (["build", "{folder}", "--out", "/proc/index"], "name a writable folder with --out"),
        (["query", "{folder}", "--image", "{folder}/a.png"], "no index here: run `fieldmark index build"),
        (["query", "{folder}", "--image", "{folder}/a.png", "--box", "1,2,3"], "give four numbers of pixels"),
        (["query", "{folder}", "--image", "{folder}/a.png", "--box", "1,2,3,nan"], "give four numbers"),
    ],
)
def test_bad_usage_is_exit_2_and_one_line(
    fieldmark: Fieldmark, folder: Path, arguments: list[str], says: str
) -> None:
    (folder / "bad.tsv").write_text("file\ttitle\na.png\tx\n../x.png\ty\n")
    done = fieldmark("index", *(argument.format(folder=folder) for argument in arguments))
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_bad_query_picture_or_box_is_exit_2(fieldmark: Fieldmark, folder: Path) -> None:
    fieldmark("index", "build", folder)
    for arguments, says in (
        (["--image", folder / "labels.tsv"], "not a readable picture"),
        (
            ["--image", folder / "a.png", "--box", "900,900,950,950"],
            "empty or outside; the image is 200x160 px",
        ),
    ):
        done = fieldmark("index", "query", folder, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert says in done.stderr
