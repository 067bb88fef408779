"""kill -9 in the middle of every step: nothing that was decided is lost, and the end is the same."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldmark.evals.curation.audit.marks import Mark, mark
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Step
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.evals.curation.pictures import picture, save
from tests.model_server import Body, ModelServer, Reply
from tests.page_server import PageServer

MANY, CLASSES = 12, 6
KILLS = 5 if os.environ.get("FIELDMARK_TEST_CRASH") else 1
"""Of a step."""
SCREENS: tuple[Step, ...] = ("screen.first", "screen.hard")
Row = tuple[Any, ...]


def rows(folder: Path, table: str = "decisions") -> list[Row]:
    """All of a table, in the order in which it was written."""
    with sqlite3.connect(f"file:{folder / 'curate.sqlite'}?mode=ro", uri=True, timeout=30) as database:
        return database.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()


def killed(command: tuple[str, ...], count: Callable[[], int], at: int) -> bool:
    """Start a command and kill it when a count is reached; whether it was still at work."""
    process = spawn([FIELDMARK, *command], env={**os.environ, "TEST_KEY": "sk-test"})
    while process.poll() is None and count() < at:
        time.sleep(0.002)
    was_at_work = process.poll() is None
    process.kill()
    process.communicate()
    return was_at_work


class Disturbed:
    """A project whose steps are killed `KILLS` times each before they may end."""

    def __init__(self, folder: Path, fieldmark: Fieldmark, seed: int) -> None:
        self.folder, self._fieldmark = folder, fieldmark
        self._random = random.Random(seed)
        self.landed = 0

    def step(self, *command: str, table: str = "decisions", kills: int = KILLS) -> None:
        """Kill it after some more rows of a table; no row that was there may be gone. Then let it end, and
        call it once more: nothing is new.
        """
        named = (command[0], command[1], str(self.folder), *command[2:])
        for _ in range(kills):
            before = rows(self.folder, table)
            at = len(before) + self._random.randrange(1, max(2, MANY // (2 * kills)))
            self.landed += killed(named, lambda: len(rows(self.folder, table)), at)
            assert rows(self.folder, table)[: len(before)] == before
        done = self._fieldmark(*named)
        assert done.returncode == 0, done.stderr
        settled = rows(self.folder)
        again = self._fieldmark(*named)
        assert again.returncode == 0, again.stderr
        assert "flipped" not in again.stdout
        assert rows(self.folder) == settled


def holds(folder: Path) -> dict[tuple[str, str], Any]:
    """What every step says of every candidate at the end; not when, and not the page's own time."""
    found: dict[tuple[str, str], Any] = {}
    for _, candidate, step, verdict, why, who, _, _, evidence in rows(folder):
        told = json.loads(evidence)
        for page in told.get("pages", []):
            page.pop("when")
        found[candidate, step] = (verdict, why, who, told)
    return found


@pytest.fixture
def materials(tmp_path: Path, fieldmark: Fieldmark) -> Path:
    """Pictures by class, and an index that holds one of them."""
    for number in range(MANY):
        save(tmp_path / "in" / f"class {number % CLASSES}" / f"{number}.png", number)
    (tmp_path / "web").mkdir()
    picture(7, 120).save(tmp_path / "web" / "7.png")
    assert fieldmark("index", "build", "web").returncode == 0
    return tmp_path


@pytest.fixture
def site() -> Iterator[PageServer]:
    with PageServer({f"/{n}": f"<p>All of class {n}.</p>" for n in range(CLASSES - 1)}) as server:
        yield server


def decided_by_persons(folder: Path, after: Step) -> None:
    with Project.open(folder) as project:
        for each in list(project.candidates(after)):
            if after == "import":
                for step in SCREENS:
                    project.decide(step, each.id, "keep", "not known")
            else:
                for who in ("ann", "bob"):
                    mark(project, each.id, who, Mark(choice="keep", label=each.label))


def urls(folder: Path, origin: str) -> Path:
    file = folder.with_suffix(".csv")
    with Project.open(folder) as project, file.open("w", newline="") as out:
        write = csv.writer(out)
        write.writerow(["candidate", "url"])
        for each in project.candidates("audit"):
            write.writerow([each.id, f"{origin}/{each.class_name[-1]}"])
    return file


def carried_out(folder: Path, fieldmark: Fieldmark, materials: Path, site: PageServer, kills: int) -> str:
    """The steps from the import to the release; its sha256."""
    assert fieldmark("curate", "new", str(folder)).returncode == 0
    toml = folder / "curate.toml"
    toml.write_text(toml.read_text().replace('licence = ""', 'licence = "CC0-1.0"'))
    one = Disturbed(folder, fieldmark, seed=7)
    photos, index = str(materials / "in"), str(materials / "web")
    one.step("curate", "import", photos, "--licence", "CC0-1.0", table="origins", kills=min(kills, 1))
    decided_by_persons(folder, "import")
    one.step("curate", "leakage", "--index", index, kills=kills)
    decided_by_persons(folder, "leakage")
    place = ("--allow-local", site.origin.removeprefix("http://"), "--no-screenshots")
    one.step("curate", "evidence", "--urls", str(urls(folder, site.origin)), *place, kills=kills)
    fieldmark("curate", "taxonomy", str(folder))
    toml = folder / "taxonomy.toml"
    toml.write_text(toml.read_text().replace('en = "", zh = ""', 'en = "Drawn", zh = "画"'))
    one.step("curate", "taxonomy", kills=0)
    one.step("curate", "questions", kills=0)
    if kills:
        killed(("curate", "freeze", str(folder)), lambda: len([*(folder / "releases").glob(".*")]), 1)
    one.step("curate", "freeze", kills=0)
    assert one.landed >= kills  # a command may be through before it is killed, but not each
    assert not list((folder / "releases").glob(".*"))
    return (folder / "releases" / "my-benchmark-1.sha256").read_text()


def test_kills_from_import_to_freeze_change_nothing(
    materials: Path, site: PageServer, fieldmark: Fieldmark
) -> None:
    disturbed, calm = materials / "disturbed", materials / "calm"
    released = carried_out(disturbed, fieldmark, materials, site, KILLS)
    assert released == carried_out(calm, fieldmark, materials, site, 0)
    assert holds(disturbed) == holds(calm)
    verdicts = {(step, told[0]) for (_, step), told in holds(calm).items()}
    assert ("evidence", "drop") in verdicts  # the class of which no page tells
    assert {file.name for file in (disturbed / "pictures").iterdir() if not file.name.startswith(".")} == {
        file.name for file in (calm / "pictures").iterdir()
    }


def knows_one_class(body: Body) -> Reply:
    """A slow model that answers one and the same to every picture."""
    return Reply(json.dumps({"answer": "class 0", "confidence": 0.9}), delay=0.2)


def episodes(folder: Path) -> int:
    return sum(len(file.read_bytes().splitlines()) for file in (folder / "runs").glob("*/episodes.jsonl"))


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_kills_in_the_screens_ask_nothing_twice(materials: Path, fieldmark: Fieldmark) -> None:
    folder, env = materials / "set", {"TEST_KEY": "sk-test"}
    fieldmark("curate", "new", str(folder))
    with ModelServer(knows_one_class) as server:
        model = f'{{ name = "scripted", base_url = "{server.url}", key_env = "TEST_KEY" }}'
        toml = folder / "curate.toml"
        text = toml.read_text().replace('{ name = "builtin/scout" }', model)
        toml.write_text(text.replace("models = [{", "models = [{ force = { temperature = 1.0 },"))
        fieldmark("curate", "import", str(folder), str(materials / "in"), "--licence", "CC0-1.0")
        for step, asked in (("first", 12), ("hard", 10)):
            command = ("curate", "screen", step, str(folder), "--no-probe", "--parallel", "2")
            requests = len(server.requests)
            assert killed(command, lambda: episodes(folder), episodes(folder) + 3)
            done = fieldmark(*command, env=env)
            assert f"screen.{step}: 10 kept" in done.stdout, done.stderr
            assert asked <= len(server.requests) - requests <= asked + 2 + 4  # those in flight; the preflight

        requests, settled = len(server.requests), rows(folder)
        database = sqlite3.connect(folder / "curate.sqlite")
        with database:  # killed after the run had ended, before its answers were taken
            database.execute("DELETE FROM answers WHERE step = 'screen.hard'")
        done = fieldmark(*command, env=env)
        assert (len(server.requests), rows(folder)) == (requests, settled), done.stderr

        text = toml.read_text()
        toml.write_text(text.replace("keep_below = 0.5", "keep_below = 1.0").replace("= 0.4", "= 0.0"))
        flipped = fieldmark(*command, env=env)
        assert flipped.stdout.count("flipped: ") == 10
        assert len(server.requests) == requests
        toml.write_text(text.replace("[screen]\n", '[screen]\nquestion = "What is it?"\n'))
        fieldmark(*command, env=env)
        assert len(server.requests) >= requests + 10
        questions = [json.loads(line)["question"] for file in folder.glob("asked-screen.hard-*-2.jsonl")
                     for line in file.open()]  # fmt: skip
        assert questions == ["What is it?"] * 10
    shutil.rmtree(folder)
