"""`--with-twin`: the closed book of the same model, in a folder beside, killed, resumed, used again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from fieldmark import twin
from fieldmark.commands.run import command
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.fieldmark.test_resume import finished, wait_for
from tests.model_server import Body, Call, ModelServer, Reply


def colours(body: Body) -> Reply:
    """With tools it is right about the red square, without, slowly, about the green one."""
    if "tools" in body:
        return Reply(calls=[Call("answer", {"text": "red"})])
    return Reply('{"answer": "green"}', delay=0.7)


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_killed_twin_is_finished_by_going_on_with_its_run(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    out, beside = tmp_path / "out", tmp_path / "out-closed-book"
    with ModelServer(colours) as server:
        options = ["--agent", "react", "--model", "scripted", "--base-url", server.url, "--parallel", "1"]
        options += ["--limit", "2", "--no-preflight", "--image", "blank", "--seed", "5", "--no-probe"]
        run = spawn([FIELDMARK, "run", "--benchmark", str(tiny), "--out", str(out), "--with-twin", *options])
        wait_for(lambda: finished(beside) >= 1, 180)
        run.kill()
        run.communicate()
        kept = (beside / "episodes.jsonl").read_bytes()
        done = fieldmark("run", "--resume", out)
        asked = len(server.requests)
        again = fieldmark("run", "--resume", out)
        assert len(server.requests) == asked
    assert done.returncode == again.returncode == 0, done.stderr + again.stderr
    assert (beside / "episodes.jsonl").read_bytes().startswith(kept)
    assert Counter(record.id for record in RunDir.open(beside).episodes()).most_common(1)[0][1] == 1
    closed, config = RunDir.open(beside).config(), RunDir.open(out).config()
    assert (closed["agent"], closed["tools"], closed["skills"]) == ("closed_book", [], {})
    assert [closed[key] for key in ("seed", "picture")] == [config[key] for key in ("seed", "picture")]
    for told in (done, again):
        assert "out against closed book: helped 1, hurt 1, both 0, neither 0 of 2 tasks" in told.stdout
    assert "it is used again" in again.stderr


def test_a_twin_has_all_but_tools_skills_and_memory(tmp_path: Path) -> None:
    config = RunConfig(
        agent="react", model=ModelConfig(name="m", base_url="http://h/v1"), tools=["ocr"], skills=["none"],
        tool=[tmp_path / "t.py"], seed=4, epochs=3, image=512, name="mine", with_twin=True, memory="inherit",
        waves=2, memory_url="postgresql://h/d",
    )  # fmt: skip
    made = twin.twin_config(config, tmp_path / "mine")
    assert (made.agent, made.tools, made.tool, made.skills) == ("closed_book", None, [], None)
    assert (made.memory, made.waves, made.memory_url) == ("off", None, None)
    assert (made.name, made.out) == ("mine-closed-book", tmp_path / "mine-closed-book")
    shared = ("model", "eyes", "judge", "seed", "epochs", "image", "limits", "protocol")
    assert [getattr(made, name) for name in shared] == [getattr(config, name) for name in shared]


def test_what_can_have_no_twin_is_refused() -> None:
    for config, why in (
        (RunConfig(agent="closed_book"), "closed_book is its own twin"),
        (RunConfig(model=ModelConfig(name="replay:runs/A")), "a replayed model"),
    ):
        with pytest.raises(UsageError, match=why):
            twin.twin_config(config, None)


@pytest.mark.usefixtures("sandbox_image")
def test_another_run_in_its_place_is_refused_before_anything_is_spent(tmp_path: Path, tiny: Path) -> None:
    beside = RunDir.create(tmp_path / "out-closed-book")
    beside.write_config({"agent": "closed_book", "model": {"name": "another"}, "state": "finished"})
    config = RunConfig(benchmark=str(tiny), out=tmp_path / "out", with_twin=True, seed=9)
    with pytest.raises(
        UsageError, match=r"out-closed-book is not the twin of this run \(agent, model, .*tasks"
    ):
        twin.check(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_dry_run_tells_of_both(tiny: Path) -> None:
    asked = ["--benchmark", str(tiny), "--with-twin", "--dry-run"]
    assert "and its closed-book twin:" in CliRunner().invoke(command, asked).stdout
    told = json.loads(CliRunner().invoke(command, [*asked, "--json"]).stdout)
    assert told["episodes"] == told["twin"]["episodes"] == 4
