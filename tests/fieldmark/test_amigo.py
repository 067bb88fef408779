"""AMIGO end to end: galleries in real containers, the figures, the pages, and what only private/ may say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.records import EpisodeRecord, GameRow
from fieldmark.rundir import RunDir, episode_key
from tests.conftest import Fieldmark

GOLD_WORDS = ('"target"', '"outcome"', '"feasible"', '"before"', '"after"')


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_two_games_are_played_measured_and_shown(fieldmark: Fieldmark, tmp_path: Path) -> None:
    done = fieldmark("run", "--benchmark", "amigo_garments", "--tasks", "t03-g002,t03-g004", "--out", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert {record.status for record in run.episodes()} == {"answered"}
    assert {verdict.label for verdict in run.verdicts().values()} == {"correct"}
    assert {row.game["over"]["outcome"] for row in run.games().values()} == {"verified"}
    assert run.config()["game"]["referees"]["detector"] == "lexicon"
    assert "Identification" in done.stdout
    assert "Keeping the rules" in done.stdout
    public = [*run.path.glob("*.json*"), *run.traces.glob("*"), run.report_html]
    assert not [p.name for p in public if any(word in p.read_text() for word in GOLD_WORDS)]

    page = TestClient(make_app(Library([run.path]), GatewayRequests(), {"testserver"}, None))
    address = f"/run/out/episode/{episode_key('t03-g004')}"
    told = page.get(address).text
    assert "The target is picture" in told
    assert ", ruled out" in told
    steps = fieldmark("export", "out", "--trajectories", "steps.jsonl", "--private")
    assert steps.returncode == 0, steps.stderr
    assert json.loads((tmp_path / "steps.jsonl").read_text().splitlines()[-1])["reward"]["verified"] == 1.0

    shutil.rmtree(run.private)
    told = page.get(address).text
    assert "Does your favorite have" in told
    assert "The target is picture" not in told
    assert ", ruled out" not in told


def test_a_kill_leaves_no_game_of_an_episode_that_was_not_committed(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    run.write_config({"id": "run", "state": "running"})
    for task, turns in (("a", 1), ("b", 2), ("a", 3)):  # a was played again, b never committed
        run.add_game(GameRow(id=task, game={"turns": turns}))
    with run.games_file.open("ab") as file:
        file.write(b'{"id": "b", "game": {"tu')
    pending = run.pending_trace("a", 0, 0)
    pending.write_text("")
    record = EpisodeRecord(
        id="a", attempt=0, status="answered", agent="amigo_player", model="m", seconds=1, charged_seconds=1,
        counts={}, started="2026-01-01T00:00:00Z", trace=f"{episode_key('a')}.jsonl",
    )  # fmt: skip
    run.commit(record, pending)
    assert run.repair() == ["games.jsonl: cut a half-written last line"]
    assert {key: row.game for key, row in run.games().items()} == {("a", 0): {"turns": 3}}
