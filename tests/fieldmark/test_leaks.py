"""Copies of the task picture in a real run: a local index that holds it, and a site that shows it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

MINI = Path(__file__).parents[2] / "evals/benchmarks/fieldmark_mini"
GOLD = {row["id"]: row["gold"]["answer"] for row in jsonl.read(MINI / "tasks.jsonl").rows}
TASKS = ("mini-17", "mini-22")


def index_of_copies(folder: Path) -> Path:
    """The pictures of two tasks: one under its name, one under a name that says nothing."""
    folder.mkdir()
    titles = {"m17.jpg": f"Photo: {GOLD['mini-17']}, 2006", "m22.jpg": "IMG 0022"}
    rows = []
    for file, title in titles.items():
        shutil.copy(MINI / "images" / file, folder / file)
        page = f"https://photos.example/{file[1:3]}"
        rows.append({"file": file, "title": title, "page": page, "source": "photos", "entity": file})
    jsonl.write_all(folder / "index.jsonl", rows)
    return folder


def site_with_a_copy(folder: Path) -> Path:
    host = folder / "album.example"
    host.mkdir(parents=True)
    shutil.copy(MINI / "images/m22.jpg", host / "p.jpg")
    (host / "index.html").write_text(
        "<html><title>Album</title><body>A picture: <img src='p.jpg'></body></html>"
    )
    return folder


def searches_then_answers(body: Body) -> Reply:
    said = [message for message in body["messages"] if message["role"] == "tool"]
    if said:
        return Reply(calls=[Call("answer", {"text": "Leuven"})])
    page = Call("compare_images", {"other": "http://album.example/p.jpg"}, "b")
    return Reply(calls=[Call("reverse_image_search", {"limit": 1}, "a"), page])


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_copies_are_marked_and_only_those_with_the_answer_leak(fieldmark: Fieldmark, tmp_path: Path) -> None:
    index, site = index_of_copies(tmp_path / "copies"), site_with_a_copy(tmp_path / "site")
    with ModelServer(searches_then_answers) as server:
        done = fieldmark(
            "run", "--tasks", ",".join(TASKS), "--index", index, "--site", site, "--model", "scripted",
            "--base-url", server.url, "--out", "out", env={"XDG_CACHE_HOME": str(tmp_path / "cache")},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    found = {task_id: (leak.copied, leak.leaked, leak.ways) for (task_id, _), leak in run.leaks().items()}
    assert found == {
        "mini-17": (True, True, ["search"]), "mini-22": (True, False, ["page", "search"])
    }  # fmt: skip
    [reason] = jsonl.read(run.leak_reasons_file).rows
    assert reason["reason"] == f"{GOLD['mini-17']!r} stands in the title of https://photos.example/17"
    assert GOLD["mini-17"] not in run.leaks_file.read_text()
    noted: list[Any] = [
        event for record in run.episodes() for event in run.trace(record) if event.kind == "same_picture"
    ]
    assert {(event.page, event.by) for event in noted} == {
        ("https://photos.example/17", "gateway"), ("https://photos.example/22", "gateway")
    }  # fmt: skip
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(" without ")]
    assert [row[1:4] for row in rows] == [["leaked", "1", "0/1"], ["copied", "2", "0/0"]]
    run.leaks_file.unlink()  # a run that ended before there was such a file
    again = json.loads(fieldmark("report", "out", "--json").stdout)["runs"][0]["leaks"]
    assert (again["copied"], again["leaked"], again["without_leaked"]["n"]) == (2, 1, 1)
    assert not run.leaks_file.exists()
