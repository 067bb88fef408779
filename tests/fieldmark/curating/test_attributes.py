"""`fieldmark curate attributes` over drawn garments, against models that know them and sometimes err."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from shutil import copy

import pytest

from fieldmark.evals.amigo.episode import EPISODES, LabelledImage, load_episodes, load_images
from fieldmark.evals.amigo.players import InformationAsker
from fieldmark.evals.amigo.settings import GameSettings
from fieldmark.evals.amigo.simulation import simulate
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.evals.curation.attributes.state import State
from fieldmark.tools.pictures.images import stage
from tests.conftest import Fieldmark
from tests.model_server import Body, ModelServer, Reply

GARMENTS = Path(str(files("fieldmark.evals.benchmarks"))) / "amigo_garments"
IDS = [f"g{number:03}" for number in range(1, 11)]
"""One family: garments that differ in a few attributes."""
SIDES = (320, 160)
SCHEMA = """
noun = "garment"
resolutions = [{{ side = {sides[0]} }}, {{ side = {sides[1]}, weight = 0.5 }}]
templates = [{{ text = "Does this {{noun}} have {{value}}?" }}, {{ text = "Can you see {{value}} here?" }}]
models = [
    {{ name = "one", base_url = "{url}", weight = 2.0 }},
    {{ name = "two", base_url = "{url}" }},
]
audit = {{ per_type = 3 }}
episodes = {{ taus = [0.3] }}
prices = {{ one = {{ input = 1, output = 1 }} }}
[types.pockets]
question = "Which pockets?"
absent = true
values = {{ patch = ["patch pockets"], welt = ["welt pockets"] }}
[types.collar]
question = "Which collar?"
absent = true
values = {{ pointed = ["a pointed collar"], rounded = ["a rounded collar"] }}
[types.skirt]
question = "How is the skirt made?"
values = {{ tiered = ["a tiered skirt"], pleated = ["a pleated skirt"], plain = ["a plain skirt"] }}
"""
TYPES = ("pockets", "collar", "skirt")
REQUESTS = len(IDS) * (len(TYPES) + 7 * 2) * 2 * len(SIDES)
TRUE = load_images(GARMENTS).images


def knowing(errors: float) -> Callable[[Body], Reply]:
    """Models that answer from the true labels; of all questions, so many are answered wrongly, by a seed."""
    seen = {
        hashlib.sha256(stage(GARMENTS / TRUE[name].image, side).view).hexdigest(): TRUE[name]
        for name in IDS
        for side in SIDES
    }

    def script(body: Body) -> Reply:
        picture, text = body["messages"][1]["content"]
        data = base64.b64decode(picture["image_url"]["url"].partition(",")[2])
        image = seen[hashlib.sha256(data).hexdigest()]
        asked = json.loads(text["text"])
        drawn = random.Random(f"{body['model']} {image.id} {len(data)} {text['text']}")
        return Reply(json.dumps({"answer": answer(image, asked, drawn.random() < errors)}))

    return script


def answer(image: LabelledImage, asked: Body, errs: bool) -> str | list[str]:
    [kind] = [name for name in TYPES if name in asked["question"]]
    true = image.attributes[kind]
    if "choices" in asked:
        return [name for name in asked["choices"] if name not in true][:1] if errs else true
    there = any(value in asked["question"].split() for value in true)
    return "Yes" if there != errs else "No"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    for name in IDS:
        copy(GARMENTS / TRUE[name].image, tmp_path / "photos")
    return tmp_path / "photos"


@pytest.fixture
def folder(tmp_path: Path, photos: Path) -> Path:
    (tmp_path / "set").mkdir()
    return tmp_path / "set"


def names(folder: Path) -> dict[str, str]:
    """Id of a picture that was taken in → id of the garment."""
    with State(folder) as state:
        return {each.id: Path(each.origin).stem for each in state.pictures()}


def test_the_vote_recovers_the_labels_and_a_game_is_played_over_them(
    fieldmark: Fieldmark, folder: Path
) -> None:
    with ModelServer(knowing(0.08), models=("one", "two")) as server:
        (folder / "attributes.toml").write_text(SCHEMA.format(url=server.url, sides=SIDES))
        first = fieldmark("curate", "attributes", "set", "photos")
        assert (first.returncode, len(server.requests)) == (0, REQUESTS), first.stderr
        again = fieldmark("curate", "attributes", "set")
        assert (again.returncode, len(server.requests)) == (0, REQUESTS), again.stderr

    images, garment = load_images(folder), names(folder)
    labelled = [(each, kind) for each in images.images.values() for kind in each.attributes]
    assert len(labelled) >= 0.8 * len(IDS) * len(TYPES)
    for each, kind in labelled:
        assert each.attributes[kind] == TRUE[garment[each.id]].attributes[kind], (garment[each.id], kind)

    told = json.loads((folder / "attributes.json").read_text())
    assert {name: used["replies"] for name, used in told["spent"].items()} == dict.fromkeys(
        ("one", "two"), REQUESTS // 2
    )
    assert (told["spent"]["one"]["usd"], told["spent"]["two"]["usd"]) == (
        pytest.approx(REQUESTS / 2 * 110e-6), None,
    )  # fmt: skip
    assert all(0.2 < told["types"][name]["alpha"] < 0.9 for name in TYPES), told["types"]

    episodes = load_episodes(folder / EPISODES, images)
    ends = [each.over for each in simulate(episodes, images, InformationAsker, GameSettings())]
    assert all(end and end.target in end.feasible for end in ends)
    assert "verified" in {end.outcome for end in ends if end}
    assert len(load_benchmark("amigo", folder).tasks) == len(episodes) == told["episodes"]["0.3"]

    audit(folder, garment)
    compared = fieldmark("curate", "attributes", "set")
    assert compared.returncode == 0, compared.stderr
    assert "2 of 3 the same" in compared.stdout
    assert json.loads((folder / "attributes.json").read_text())["audit"]["collar"]["n"] == 3
    marked = (folder / "audit.csv").read_text()
    (folder / "audit.csv").write_text(marked.replace(",unsure\n", ",huge\n"))
    wrong = fieldmark("curate", "attributes", "set")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "line 5: 'huge' is none of pointed, rounded, none, unsure" in wrong.stderr


def audit(folder: Path, garment: dict[str, str]) -> None:
    """A person who sees the truth, but takes one collar for another."""
    with (folder / "audit.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["type"] for row in rows] == [kind for kind in TYPES for _ in range(3)]
    by_image = {each.image: each.id for each in load_images(folder).images.values()}
    for row in rows:
        row["person"] = TRUE[garment[by_image[row["image"]]]].attributes[row["type"]][0]
    rows[3]["person"] = "unsure"
    with (folder / "audit.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)


def test_a_kill_loses_no_reply(fieldmark: Fieldmark, folder: Path, photos: Path) -> None:
    pictures = 4
    for name in IDS[pictures:]:
        (photos / f"{name}.png").unlink()
    whole = REQUESTS // len(IDS) * pictures
    with ModelServer(knowing(0), models=("one", "two")) as server:
        (folder / "attributes.toml").write_text(SCHEMA.format(url=server.url, sides=SIDES))
        command = [str(Path(sys.executable).with_name("fieldmark")), "curate", "attributes", "set", "photos"]
        process = subprocess.Popen(command, cwd=folder.parent, stdout=subprocess.DEVNULL)
        while len(server.requests) < 100 and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(server.requests) < whole
        assert fieldmark("curate", "attributes", "set", "photos", "--parallel", 4).returncode == 0
        in_flight = 8
        assert whole <= len(server.requests) <= whole + in_flight
    found = load_images(folder).images.values()
    assert all({*each.attributes} == {*TYPES} for each in found)
    told = json.loads((folder / "attributes.json").read_text())
    assert all(told["types"][name]["alpha"] == 1 for name in TYPES)


def test_a_model_that_never_answers_gives_no_label_and_is_not_asked_again(
    fieldmark: Fieldmark, folder: Path, photos: Path
) -> None:
    for name in IDS[1:]:
        (photos / f"{name}.png").unlink()
    script = knowing(0)

    def mute(body: Body) -> Reply:
        return Reply("Hm.") if body["model"] == "one" else script(body)

    with ModelServer(mute, models=("one", "two")) as server:
        (folder / "attributes.toml").write_text(SCHEMA.format(url=server.url, sides=SIDES))
        told = fieldmark("curate", "attributes", "set", "photos")
        assert (told.returncode, len(server.requests)) == (0, REQUESTS // len(IDS) * 2), told.stderr
        fieldmark("curate", "attributes", "set")
        assert len(server.requests) == REQUESTS // len(IDS) * 2
    [image] = load_images(folder).images.values()
    assert image.attributes == {}


def test_what_a_server_refuses_is_told_and_asked_again(
    fieldmark: Fieldmark, folder: Path, photos: Path
) -> None:
    for name in IDS[1:]:
        (photos / f"{name}.png").unlink()
    script, refusing = knowing(0), True

    def wary(body: Body) -> Reply:
        refused = refusing and "Which collar" in str(body["messages"])
        return Reply(status=400, error={"message": "flagged"}) if refused else script(body)

    with ModelServer(wary, models=("one", "two")) as server:
        (folder / "attributes.toml").write_text(SCHEMA.format(url=server.url, sides=SIDES))
        told = fieldmark("curate", "attributes", "set", "photos")
        assert (told.returncode, told.stderr.count("no reply on collar")) == (1, 4)
        assert "collar" not in next(iter(load_images(folder).images.values())).attributes
        refusing = False
        assert fieldmark("curate", "attributes", "set").returncode == 0
        assert len(server.requests) == REQUESTS // len(IDS) + 4
    assert {*next(iter(load_images(folder).images.values())).attributes} == {*TYPES}


def test_what_is_wrong_is_told_in_a_line(fieldmark: Fieldmark, folder: Path) -> None:
    assert "say there which attributes" in fieldmark("curate", "attributes", "new").stdout
    (folder / "attributes.toml").write_text(SCHEMA.format(url="http://127.0.0.1:9/v1", sides=SIDES))
    none = fieldmark("curate", "attributes", "set")
    assert none.returncode == 2
    assert "has no pictures yet" in none.stderr
    down = fieldmark("curate", "attributes", "set", "photos")
    assert (down.returncode, down.stderr.count("\n")) == (2, 1)
