"""`fieldmark curate` from a folder of pictures to an archive that `fieldmark run` evaluates."""

from __future__ import annotations

import base64
import io
import json
import re
import sqlite3
from pathlib import Path

import pytest
from PIL import Image

from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Step
from tests.conftest import Fieldmark
from tests.evals.curation.pictures import save
from tests.model_server import Body, ModelServer, Reply

SIDES = {"heron": 96, "egret": 100}
"""By their sides the scripted models tell the pictures apart."""


def knows_egrets(body: Body) -> Reply:
    """One model that knows the class `egret` and no other; and says so."""
    found = re.search(r"data:image/\w+;base64,([A-Za-z0-9+/=]+)", json.dumps(body["messages"]))
    side = Image.open(io.BytesIO(base64.b64decode(found[1]))).width if found else 0
    return Reply(json.dumps({"answer": "egret" if side == SIDES["egret"] else "stork", "confidence": 0.9}))


def settings(folder: Path, url: str) -> None:
    """The two models of the second screen are one, asked with and without a temperature."""
    model = f'name = "scripted", base_url = "{url}", key_env = "TEST_KEY"'
    (folder / "curate.toml").write_text(
        '[release]\nname = "birds"\nlicence = "CC0-1.0"\n'
        f"[screen.first]\nmodel = {{ {model} }}\nimages = 1\n"
        f"[screen.hard]\nmodels = [{{ {model} }}, {{ {model}, force = {{ temperature = 1.0 }} }}]\n"
    )


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_from_pictures_to_a_run(fieldmark: Fieldmark, tmp_path: Path) -> None:
    for number in range(4):
        name = "heron" if number < 2 else "egret"
        save(tmp_path / "in" / name / f"{number}.png", number, SIDES[name])
    env = {"TEST_KEY": "sk-test", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    asking = ("set", "--no-probe", "--parallel", 2)
    with ModelServer(knows_egrets) as server:
        assert fieldmark("curate", "new", "set").returncode == 0
        settings(tmp_path / "set", server.url)
        assert fieldmark("curate", "import", "set", "in", "--licence", "CC0-1.0").returncode == 0

        first = fieldmark("curate", "screen", "first", *asking, env=env)
        assert "2 kept, 2 dropped, 0 open" in first.stdout, first.stderr
        asked = len(server.requests)
        hard = fieldmark("curate", "screen", "hard", *asking, env=env)
        assert "2 kept, 0 dropped, 0 open" in hard.stdout, hard.stderr
        assert "screen.first" in fieldmark("curate", "screen", "first", *asking, env=env).stdout
        assert len(server.requests) > asked

        _decide_what_people_decide(tmp_path / "set")
        assert "fill" not in fieldmark("curate", "taxonomy", "set").stderr
        taxonomy = tmp_path / "set" / "taxonomy.toml"
        names = {'top = { en = "", zh = "" }': 'top = { en = "Nature", zh = "自然" }',
                 'mid = { en = "", zh = "" }': 'mid = { en = "Birds", zh = "鸟类" }'}  # fmt: skip
        text = taxonomy.read_text()
        for was, now in names.items():
            text = text.replace(was, now)
        taxonomy.write_text(text)
        assert "2 kept" in fieldmark("curate", "taxonomy", "set").stdout
        assert "2 kept" in fieldmark("curate", "questions", "set").stdout
        frozen = fieldmark("curate", "freeze", "set")
        assert "birds-1.zip: 2 items, written" in frozen.stdout, frozen.stderr

        done = fieldmark(
            "run", "--benchmark", "fika", "--data", "set/releases/birds-1.zip", "--agent", "closed_book",
            "--model", "scripted", "--base-url", server.url, "--key-env", "TEST_KEY", "--out", "run", env=env,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    verdicts = [json.loads(line)["label"] for line in (tmp_path / "run" / "verdicts.jsonl").open()]
    assert verdicts == ["incorrect"] * 2


def _decide_what_people_decide(folder: Path) -> None:
    steps: list[Step] = ["leakage", "audit", "evidence"]
    with Project.open(folder) as project:
        for step in steps:
            for each in project.candidates(after="screen.hard"):
                told = {"evidence": {"urls": [{"url": "https://example.org/heron"}]}}.get(step, {})
                project.decide(step, each.id, "keep", "looked at", who="ann", evidence=told)


def test_status_and_the_history_of_a_candidate(fieldmark: Fieldmark, tmp_path: Path) -> None:
    for number in range(2):
        save(tmp_path / "in" / "heron" / f"{number}.png", number)
    fieldmark("curate", "new", "set")
    told = fieldmark("curate", "import", "set", "in", "--licence", "CC0-1.0")
    assert "import: 2 kept, 0 dropped, 0 open" in told.stdout
    rows = json.loads(fieldmark("curate", "status", "set", "--json").stdout)
    assert rows[0] == {"step": "import", "reached": 2, "keep": 2, "drop": 0, "open": 0, "classes": 1}
    name = sqlite3.connect(tmp_path / "set/curate.sqlite").execute("SELECT id FROM candidates").fetchone()[0]
    assert "import        keep  by fieldmark: usable" in fieldmark("curate", "show", "set", name).stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("status", "nowhere"), "fieldmark curate new"),
        (("screen", "first", "set"), "no candidate is left after import"),
        (("import", "set", "nothing-there"), "is not there"),
        (("questions", "set"), "taxonomy.toml is missing"),
    ],
)
def test_bad_usage_is_one_line(fieldmark: Fieldmark, command: tuple[str, ...], told: str) -> None:
    fieldmark("curate", "new", "set")
    done = fieldmark("curate", *command)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
