"""A game through a real door: what is told, what may be fetched, what the trace holds, who is at fault."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.agents.amigo_player import AGENT
from fieldmark.agents.base import AgentStopped
from fieldmark.blobs import BlobStore
from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.evals.amigo.constraint import Constraint
from fieldmark.evals.amigo.game import Game, Referees
from fieldmark.evals.amigo.settings import GameSettings
from fieldmark.evals.benchmarks import load_benchmark
from fieldmark.evals.judges.base import ServerDown
from fieldmark.games.played import PlayedGame
from fieldmark.sandbox.gateway.game import MAX_TEXT
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.staging import StagedTask, stage
from tests.model_server import Body, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter

BENCHMARK = load_benchmark("amigo_garments")
TASK = BENCHMARK.tasks[0]  # eight pictures, the target is the last


@pytest.fixture
def staged(tmp_path: Path) -> StagedTask:
    blobs = BlobStore(tmp_path / "blobs")
    blobs.folder.mkdir()
    return stage(TASK, 2048, blobs)


class DeadOracle:
    """An oracle whose server is down."""

    name = "dead"

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Any:
        raise ServerDown("nobody answers")


def game_of(staged: StagedTask, *, dead: bool = False, turns: int = 20) -> PlayedGame:
    galleries = BENCHMARK.galleries
    assert galleries
    episode = galleries.episodes[TASK.id]
    referees = Referees.by_labels(episode, galleries.images)
    referees = replace(referees, oracle=DeadOracle()) if dead else referees
    return PlayedGame(Game.of(episode, galleries.images, GameSettings(turns=turns), referees), staged.gallery)


async def test_a_game_is_told_turn_by_turn_and_written_without_gold(enter: Enter, staged: StagedTask) -> None:
    game = game_of(staged)
    async with enter(game=game) as inside:
        first = (await inside.ask("GET", "/turn")).json()
        assert first["numbers"] == [1, 2, 3, 4, 5]
        assert (await inside.ask("GET", "/turn")).json() == first  # asking again changes nothing
        second = await inside.post("/turn", {"text": "Is it red?"})
        assert second["numbers"] == [6, 7, 8]
        assert second["text"].endswith("End of uploading")
        told = [
            (await inside.post("/turn", {"text": text}))["text"]
            for text in ("Does it have a round neckline?", "Is it number 3?", "Does it have a V-neckline?")
        ]
        assert told == ["Yes", "Skip", "Skip"]
        over = await inside.post("/turn", {"text": "My guess of your favorite garment: #8"})
        assert (over["over"], over["guess"]) == (True, 8)
        with pytest.raises(GatewayRefused, match="is over"):
            await inside.post("/turn", {"text": "Is it?"})
        events = inside.events("game_turn")
    assert [row["phase"] for row in events] == ["uploading", *["asking"] * 4, "over"]
    assert [row.get("rule") for row in events[2:5]] == [None, "image_index", "repeated_type"]
    assert {row["by"] for row in events} == {"gateway"}
    record = game.end()
    assert record.over
    assert record.over.outcome == "random_guess"
    assert record.uploads[0].heard == "premature_question"
    assert not {"target", "outcome", "feasible", "before", "after", "noise"} & {
        k for row in events for k in row
    }


async def test_only_pictures_that_were_shown_can_be_fetched(enter: Enter, staged: StagedTask) -> None:
    async with enter(game=game_of(staged)) as inside:
        early, late = staged.gallery[0].blob, staged.gallery[7].blob
        with pytest.raises(GatewayRefused, match="no such picture"):
            await inside.ask("GET", f"/turn/picture?blob={early}")
        await inside.ask("GET", "/turn")
        got = await inside.ask("GET", f"/turn/picture?blob={early}")
        assert got.body == TASK.gallery[0].read_bytes()
        for blob in (late, staged.image.blob, "../../private"):
            with pytest.raises(GatewayRefused, match="no such picture"):
                await inside.ask("GET", f"/turn/picture?blob={blob}")


@pytest.mark.parametrize("body", [{}, {"text": 3}, [], {"text": "x" * (MAX_TEXT + 1)}])
async def test_what_is_no_text_is_refused_and_takes_no_turn(
    enter: Enter, staged: StagedTask, body: object
) -> None:
    game = game_of(staged)
    async with enter(game=game) as inside:
        with pytest.raises(GatewayRefused, match="not begun"):
            await inside.post("/turn", {"text": "hello"})
        await inside.ask("GET", "/turn")
        with pytest.raises(GatewayRefused, match="at most"):
            await inside.post("/turn", body)
    assert game.end().uploads == []


async def test_texts_at_once_are_heard_one_after_the_other(enter: Enter, staged: StagedTask) -> None:
    game = game_of(staged)
    async with enter(game=game) as inside:
        await inside.ask("GET", "/turn")
        await inside.post("/turn", {"text": "Understood."})
        await asyncio.gather(*(inside.post("/turn", {"text": "Does it have a belt?"}) for _ in range(8)))
    assert [row.turn for row in game.end().turns] == [*range(1, 9)]


async def test_without_a_game_there_is_no_turn(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match="no game"):
            await inside.ask("GET", "/turn")


async def test_a_referee_that_does_not_answer_is_our_fault(enter: Enter, staged: StagedTask) -> None:
    async with enter(game=game_of(staged, dead=True)) as inside:
        await inside.ask("GET", "/turn")
        await inside.post("/turn", {"text": "Understood."})
        with pytest.raises(GatewayGone):
            await inside.post("/turn", {"text": "Does it have a belt?"})
        outcome = await inside.end()
    assert outcome.status == "sandbox_error"
    assert outcome.error
    assert (outcome.error.boundary, outcome.error.kind) == ("model", "referee")


def seeing(body: Body) -> Reply:
    """Counts what it is shown, then asks one question and guesses."""
    said = [row for row in body["messages"] if row["role"] == "assistant"]
    texts = ["Understood.", "Does it have a round neckline?", "My guess of your favorite garment: #8"]
    return Reply(texts[min(len(said), 2)])


async def test_the_player_shows_its_model_every_picture_and_answers_with_its_guess(
    enter: Enter, staged: StagedTask
) -> None:
    with ModelServer(seeing) as server:
        async with enter(HttpUpstream("scripted", server.url, "K"), game=game_of(staged)) as inside:
            answer = await asyncio.to_thread(AGENT.solve, inside.session.prompt, inside.client, [])
            requests = inside.events("model_request")
    assert answer.text == "image 8"
    shown = [json.dumps(body).count("data:image/png;base64,") for body in server.requests]
    assert shown == [5, 8, 8]
    assert all(row["task_picture"]["delivered"] == "exact" for row in requests)
    assert all("tools" not in body for body in server.requests)


async def test_no_guess_within_the_turns_is_an_end_of_the_agents_own(
    enter: Enter, staged: StagedTask
) -> None:
    upstream = [Reply("Understood."), *[Reply("Is it nice?")] * 6]
    game = game_of(staged, turns=3)
    with ModelServer(upstream) as server:
        to = HttpUpstream("scripted", server.url, "K", back_off=wait_none())
        async with enter(to, game=game) as inside:
            with pytest.raises(AgentStopped, match="without a guess") as stop:
                await asyncio.to_thread(AGENT.solve, inside.session.prompt, inside.client, [])
    assert stop.value.kind == "max_turns"
    over = game.end().over
    assert over
    assert over.outcome == "no_guess"
