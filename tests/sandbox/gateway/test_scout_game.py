"""builtin/scout plays AMIGO by what can be read off pixels: it keeps the rules, and finds the target."""

from __future__ import annotations

import json
from typing import Any

from fieldmark.evals.amigo.game import Game, Message, Over
from fieldmark.evals.amigo.settings import GameSettings, NoiseSettings
from fieldmark.evals.benchmarks import load_benchmark
from fieldmark.sandbox.gateway.scout.policy import respond
from fieldmark.tools.pictures.garments import read_garment

BENCHMARK = load_benchmark("amigo-garments")
LOOK = {"type": "function", "function": {"name": "inspect_picture", "parameters": {"type": "object"}}}


def played(task_id: str, settings: GameSettings) -> Game:
    """One game; its looks are answered from the pixels."""
    galleries = BENCHMARK.galleries
    assert galleries
    episode = galleries.episodes[task_id]
    pictures = galleries.images.pictures(episode)
    game = Game.of(episode, galleries.images, settings)
    said: list[dict[str, Any]] = []
    message: Message | Over = game.start()
    while isinstance(message, Message):
        said.append({"role": "user", "content": message.text})
        while (reply := respond({"messages": said, "tools": [LOOK]})).tool_calls:
            for n, call in enumerate(reply.tool_calls):
                name = f"c{len(said)}.{n}"
                number = call["arguments"]["picture"]
                data = {"picture": number, "attributes": read_garment(pictures[number - 1].read_bytes())}
                function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
                said.append({"role": "assistant", "tool_calls": [{"id": name, "function": function}]})
                said.append({"role": "tool", "tool_call_id": name, "content": f"data: {json.dumps(data)}"})
        assert reply.text
        said.append({"role": "assistant", "content": reply.text})
        message = game.hear(reply.text)
    return game


def test_it_finds_targets_and_breaks_no_rule() -> None:
    games = [played(task.id, GameSettings()) for task in BENCHMARK.tasks[::60]]
    assert {game.record.over and game.record.over.outcome for game in games} == {"verified"}
    assert not [turn for game in games for turn in game.record.turns if turn.violation]
    assert {upload.heard for game in games for upload in game.record.uploads} == {"acknowledgement"}


def test_a_false_answer_ends_in_a_guess() -> None:
    noise = NoiseSettings(kind="flip", within=1)
    over = played(BENCHMARK.tasks[0].id, GameSettings(noise=noise)).record.over
    assert over
    assert over.outcome != "no_guess"


def test_looks_that_bring_nothing_are_not_tried_for_ever() -> None:
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "Batch 1: pictures 1 to 2.\n\nEnd of uploading"}
    ]
    for _ in range(3):
        reply = respond({"messages": said, "tools": [LOOK]})
        for n, call in enumerate(reply.tool_calls):
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            said.append({"role": "assistant", "tool_calls": [{"id": f"{n}", "function": function}]})
            said.append({"role": "tool", "tool_call_id": f"{n}", "content": "Error"})
    assert reply.text == "My guess of your favorite one: #1"
