"""docs/curate.md's sequence, line by line: from a folder of real photos to an archive that is evaluated.

Scripted models on a real server; a local index and a folder of pages in the web's place; two persons' marks
by keys in real Chromium, on the page that `curate audit` serves.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
import shutil
import signal
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.evals.curation.project import Project
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.evals.inspector.browser import visit_socket
from tests.evals.inspector.forwarding import forwarding
from tests.fieldmark.curating.conftest import MINI
from tests.model_server import Body, ModelServer, Reply

DOCS = Path(__file__).parents[3] / "docs" / "curate.md"
CLASSES = {
    "animal": ("m10.jpg", "m12.png"),
    "book": ("m01.png", "m03.jpg"),
    "landmark": ("m16.jpg", "m17.jpg"),
    "plant": ("m13.jpg", "m08.jpg"),
}
"""Class → photos; the classes are this test's own."""
SIZES = {Image.open(MINI / "images" / file).size: name for name, files in CLASSES.items() for file in files}
KEYS = """
page = browser.new_page(viewport={"width": WIDTH, "height": 844})
page.goto(base)
found["marked"] = []
for number in range(9):
    if page.locator("#inherited").count() == 0:
        break
    label = page.inner_text("#inherited")
    found["marked"].append(label)
    shot(page, "audit-" + str(number))
    if label == "plant":
        page.keyboard.press("l")
        page.keyboard.type("succulent plant")
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("d" if label == "landmark" and DROPS else "k")
    begun = "count => document.getElementById('done').textContent.startsWith(count)"
    page.wait_for_function(begun, arg=str(number + 1))
found["end"] = page.inner_text("h1")
"""


class Models:
    """Models that know some classes, and see the picture that they are sent."""

    def __init__(self) -> None:
        self.known = {"animal"}
        self.url = ""

    def answer(self, body: Body) -> Reply:
        found = re.search(r"data:image/\w+;base64,([A-Za-z0-9+/=]+)", json.dumps(body["messages"]))
        size = Image.open(io.BytesIO(base64.b64decode(found[1]))).size if found else (0, 0)
        name = SIZES.get(size, "")
        return Reply(json.dumps({"answer": name if name in self.known else "a thing", "confidence": 0.9}))


class Sequence:
    """What a person does with each line of the docs."""

    def __init__(
        self, folder: Path, fieldmark: Fieldmark, models: Models, browse: Callable[..., Any]
    ) -> None:
        self.folder, self.models, self.browse = folder, models, browse
        self._fieldmark = fieldmark
        self._env = {"TEST_KEY": "sk-test"}
        self.told: dict[str, str] = {}

    def play(self, line: str) -> None:
        words = shlex.split(line)[1:]
        if "--annotator" in words:
            self.told[line] = self._audit(words)
            return
        if words[:2] == ["curate", "screen"] or words[:2] == ["curate", "refresh"]:
            words.append("--no-probe")  # the scripted models read no number off a picture
        done = self._fieldmark(*words, env=self._env)
        assert done.returncode == (1 if words[1] == "refresh" else 0), (line, done.stdout, done.stderr)
        self.told[f"{line} again" if line in self.told else line] = done.stdout
        if after := getattr(self, f"_after_{words[1]}", None):
            after(done.stdout)

    def refused_blind(self) -> None:
        """The model of the first screen does not see what it is shown: nothing is decided."""
        done = self._fieldmark("curate", "screen", "first", "my-set", env=self._env)
        assert done.returncode == 1
        assert "blind" in done.stderr.splitlines()[-1]
        assert "--no-probe" in done.stderr.splitlines()[-1]
        assert "screen.first" not in json.dumps([row.step for row in self._rows() if row.keep])

    def _rows(self) -> Any:
        with Project.open(self.folder / "my-set") as project:
            return project.funnel()

    def _audit(self, words: list[str]) -> str:
        free = words[: words.index("--port")] if "--port" in words else words
        process: subprocess.Popen[str] = spawn([FIELDMARK, *free, "--port", "0"], cwd=self.folder)
        assert process.stdout
        port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])
        name = words[words.index("--annotator") + 1]
        script = KEYS.replace("WIDTH", "1280" if name == "ann" else "390")
        found = self.browse(port, self.folder / name, script.replace("DROPS", str(name == "bob")))
        assert found["end"] == "All is marked"
        assert len(found["marked"]) == 5
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=60)[0]

    def _after_new(self, _: str) -> None:
        toml = self.folder / "my-set" / "curate.toml"
        model = f'name = "scripted", base_url = "{self.models.url}", key_env = "TEST_KEY"'
        text = toml.read_text().replace('name = "builtin/scout"', model)
        toml.write_text(text.replace('licence = ""', 'licence = "CC-BY-4.0"'))

    def _after_import(self, _: str) -> None:
        self.refused_blind()

    def _after_list(self, printed: str) -> None:
        rows = [line.split("\t") for line in printed.splitlines()]
        assert {answer for _, answer, _, _ in rows} == {"book", "succulent plant"}
        with (self.folder / "evidence.csv").open("w", newline="") as file:
            write = csv.writer(file)
            write.writerow(["candidate", "url"])
            write.writerows([[row[0], f"https://museum.example/{row[2]}.html"] for row in rows])

    def _after_taxonomy(self, _: str) -> None:
        toml = self.folder / "my-set" / "taxonomy.toml"
        text = toml.read_text().replace('top = { en = "", zh = "" }', 'top = { en = "Product", zh = "产品" }')
        toml.write_text(text.replace('mid = { en = "", zh = "" }', 'mid = { en = "Mixed", zh = "混合" }'))

    def _after_freeze(self, _: str) -> None:
        self.models.known.add("book")  # what models learn meanwhile


@pytest.fixture
def materials(tmp_path: Path) -> Path:
    """The photos by class; a web whose one page gives a landmark away; pages of evidence."""
    for name, files in CLASSES.items():
        (tmp_path / "photos" / name).mkdir(parents=True)
        for file in files:
            shutil.copy(MINI / "images" / file, tmp_path / "photos" / name)
    (tmp_path / "photos" / "plant" / "broken-not.txt").write_text("no picture")
    (tmp_path / "web-pictures").mkdir()
    Image.open(MINI / "images" / "m16.jpg").convert("RGB").resize((320, 214)).save(
        tmp_path / "web-pictures" / "landmark.jpg"
    )
    host = tmp_path / "web-pages" / "museum.example"
    host.mkdir(parents=True)
    for name, words in {"book": "How a book is bound", "plant": "A succulent plant stores water"}.items():
        (host / f"{name}.html").write_text(f"<html><body><h1>{words}.</h1></body></html>")
    return tmp_path


@pytest.mark.usefixtures("nothing_left")
def test_the_documented_sequence(
    materials: Path, fieldmark: Fieldmark, engine: Any, sandbox_image: str
) -> None:
    block = DOCS.read_text().split("```")[1]
    lines = [line for line in block.splitlines() if line.startswith("fieldmark ")]
    assert len(lines) == 19

    def browse(port: int, folder: Path, script: str) -> Any:
        return visit_socket(engine, sandbox_image, lambda path: forwarding(path, port), folder, script)

    models = Models()
    with ModelServer(models.answer) as server:
        models.url = server.url
        sequence = Sequence(materials, fieldmark, models, browse)
        for line in lines:
            sequence.play(line)
    told = {" ".join(line.split()[1:4]): text for line, text in sequence.told.items()}
    assert "screen.first: 6 kept, 2 dropped" in told["curate screen first"]
    assert "screen.hard: 6 kept, 0 dropped" in told["curate screen hard"]
    assert "leakage: 5 kept, 1 dropped" in told["curate leakage my-set"]
    assert "audit: 4 kept, 0 dropped, 1 open" in sequence.told["fieldmark curate audit my-set"]
    assert "Cohen's κ" in sequence.told["fieldmark curate audit my-set"]
    assert "4 evidence URLs, 1 domain, 4 screenshots" in told["curate evidence my-set"]
    assert "0 of 4 items lost all support; 4 pages: 4 same" in told["curate refresh my-set"]
    assert "scripted: 2 of 4 items are known by now" in told["curate refresh my-set"]
    assert "nothing is decided" in told["curate refresh my-set"]
    with zipfile.ZipFile(materials / "my-set/releases/my-benchmark-1.zip") as archive:
        rows = [json.loads(line) for line in archive.read("data/manifest.jsonl").decode().splitlines()]
        assert "base_url" not in archive.read("data/statistics.json").decode()
    assert sorted(row["answer"] for row in rows) == ["book", "book", "succulent plant", "succulent plant"]
    verdicts = [json.loads(line)["label"] for line in (materials / "runs/mine/verdicts.jsonl").open()]
    assert len(verdicts) == 4
    assert "correct" not in verdicts
    shots = list((materials / "my-set/evidence/screenshots").iterdir())
    assert {Image.open(file).size for file in shots} == {(1280, 800)}
