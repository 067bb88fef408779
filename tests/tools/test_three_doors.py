"""The same calls through the graph, the command line and an MCP client, in one real container."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from fieldmark.sandbox.container import PYTHON
from fieldmark.tools.base import ToolResult
from tests.conftest import FIELDMARK, ours, spawn
from tests.model_server import Body, Call, ModelServer, Reply

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "crop": ("crop_zoom", {"x1": 100, "y1": 100, "x2": 400, "y2": 300}),
    "ocr": ("ocr", {"mode": "registration"}),
    "registry": ("aircraft_registry", {"registration": "JA801A"}),
    "search": ("reverse_image_search", {"limit": 3}),
    "skill": ("read_skill", {"name": "food"}),
    "faulty": ("crop_zoom", {"x1": "left"}),
    "unknown": ("functions.crop_zoom", {"x1": 0, "y1": 0, "x2": 9, "y2": 9}),
    "skill as a tool": ("museum_object", {"query": "vase"}),
    "skill that is off": ("mineral", {}),
}

IN_THE_CONTAINER = """
import anyio, base64, hashlib, json, pathlib, subprocess, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

def sha256(data):
    return hashlib.sha256(data).hexdigest()

def by_command(name, arguments):
    command = ["fieldmark", "tool", name, "--json", json.dumps(arguments)]
    row = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for picture in row["pictures"]:
        picture["sha256"] = sha256(pathlib.Path(picture["file"]).read_bytes())
    return row

async def by_client():
    said = {}
    async def call(key, name, arguments):
        result = await client.call_tool(name, arguments)
        said[key] = {
            "ok": not result.is_error,
            "texts": [part.text for part in result.content if part.type == "text"],
            "pictures": [sha256(base64.b64decode(p.data)) for p in result.content if p.type == "image"],
        }
    async with Client(stdio_client(StdioServerParameters(command="fieldmark", args=["mcp"]))) as client:
        offered = [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]
        async with anyio.create_task_group() as group:
            for key, (name, arguments) in calls.items():
                group.start_soon(call, key, name, arguments)
    return said, offered

calls = json.loads(sys.argv[1])
rows = {key: by_command(*call) for key, call in calls.items()}
said, offered = anyio.run(by_client)
print(json.dumps({"command": rows, "mcp": said, "offered": offered}))
"""


class ThreeDoors:
    """A scripted model: it makes the calls; before its answer they are made again in its container."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.other_doors: dict[str, Any] = {}

    def __call__(self, body: Body) -> Reply:
        if not any(message["role"] == "tool" for message in body["messages"]):
            return Reply(calls=[Call(*call, key) for key, call in CALLS.items()])
        command = [PYTHON, "-c", IN_THE_CONTAINER, json.dumps(CALLS)]
        self.other_doors = json.loads(self._run(self._busy_container(), command))
        return Reply(calls=[Call("answer", {"text": "Boeing 787-8"}, "end")])

    def _busy_container(self) -> str:
        return next(
            container
            for container in ours(self._engine, running=True)
            if self._run(container, ["ls", "-a", "/workspace"]).count(".prompt.json")
        )

    def _run(self, container: str, command: list[str]) -> str:
        made = self._engine.api.exec_create(container, command)
        out, errors = self._engine.api.exec_start(made["Id"], demux=True)
        assert not errors, errors.decode()
        return str(out.decode()) if out else ""


class Played:
    """One episode: what each door gave (`told` the graph's model, `other` the rest), and its trace."""

    def __init__(self, engine: Any, folder: Path, *flags: str) -> None:
        model = ThreeDoors(engine)
        with ModelServer(model) as server:
            done = spawn([
                FIELDMARK, "run", "--tasks", "mini-34", "--model", "scripted", "--base-url", server.url,
                "--parallel", "1", "--out", str(folder), *flags,
            ])  # fmt: skip
            _, errors = done.communicate(timeout=240)
        assert done.returncode == 0, errors
        run = RunDir.open(folder)
        [self.record] = run.episodes()
        self.config = run.config()
        self.trace: list[Any] = list(run.trace(self.record))
        self.other = model.other_doors
        self.requests = server.requests
        messages = server.requests[-1]["messages"]
        self.told = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}

    def events(self, kind: str, door: str) -> dict[str, dict[str, Any]]:
        """The events of a kind by the call's key, without what differs between two calls."""
        keys = {event.call: key for key in CALLS for event in self._calls(key, door)}
        found = {keys[e.call]: e for e in self.trace if e.kind == kind and e.call in keys}
        differs = {"seq", "t", "call", "door", "model_call", "tap", "side", "seconds"}
        return {key: event.model_dump(exclude=differs) for key, event in found.items()}

    def _calls(self, key: str, door: str) -> list[Any]:
        """The one call event of that key at that door."""
        name, arguments = CALLS[key]
        calls = [e for e in self.trace if e.kind == "tool_call" and e.door == door]
        found = [e for e in calls if (e.name, e.arguments) == (name, arguments)]
        assert len(found) == 1
        return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, engine: Any, sandbox_image: str) -> Played:
    """An episode with the bundled registry and index, whose skill `mineral` is off."""
    return Played(engine, tmp_path_factory.mktemp("doors") / "out", "--skills", "all,-mineral")


@pytest.mark.parametrize("key", CALLS)
@pytest.mark.parametrize("door", ["command", "mcp"])
def test_every_door_writes_the_same_events(played: Played, door: str, key: str) -> None:
    for kind in ("tool_call", "tool_result"):
        assert played.events(kind, door)[key] == played.events(kind, "graph")[key]


@pytest.mark.parametrize("key", CALLS)
def test_every_door_gives_the_same_text_and_data(played: Played, key: str) -> None:
    row, said = played.other["command"][key], played.other["mcp"][key]
    assert said["texts"] == [played.told[key]]
    assert ToolResult(row["text"], row["data"]).for_model() == played.told[key]
    assert row["ok"] == said["ok"] == played.events("tool_result", "graph")[key]["ok"]


def test_every_door_gives_the_same_picture(played: Played) -> None:
    [shown] = played.events("tool_result", "graph")["crop"]["pictures"]
    assert pictures_of(played.requests[-1]) == [shown["blob"]]
    for key in CALLS:
        command = [picture["sha256"] for picture in played.other["command"][key]["pictures"]]
        expected = [shown["blob"]] if key == "crop" else []
        assert command == played.other["mcp"][key]["pictures"] == expected


def test_the_calls_did_their_work(played: Played) -> None:
    """Else all doors might agree on nothing."""
    assert '"found":true' in played.told["ocr"]
    assert "JA801A" in played.told["ocr"]
    assert "787" in played.told["registry"]
    assert '"hits":[{' in played.told["search"]
    assert "Skill food, SKILL.md" in played.told["skill"]


def test_the_doors_offer_the_same_tools(played: Played) -> None:
    functions = [tool["function"] for tool in played.requests[0]["tools"]]
    offered = [
        {"name": t["name"], "description": t["description"], "parameters": t["input_schema"]}
        for t in played.other["offered"]
    ]
    assert offered == functions


def test_wrong_calls_are_recorded_at_every_door(played: Played) -> None:
    for door in ("graph", "command", "mcp"):
        results = played.events("tool_result", door)
        kinds = {key: results[key]["error_kind"] for key in CALLS if not results[key]["ok"]}
        assert kinds == {
            "faulty": "invalid_args",
            "unknown": "not_found",
            "skill as a tool": "not_found",
            "skill that is off": "not_found",
        }


def test_a_skill_called_as_a_tool_gives_its_text_only_while_it_is_on(played: Played) -> None:
    assert "# Museum" in played.told["skill as a tool"]
    assert 'read it with read_skill, {"name": "museum-object"}' in played.told["skill as a tool"]
    assert "no tool named 'mineral'; the tools are aircraft_registry" in played.told["skill that is off"]
    read = Counter((e.skill, e.file) for e in played.trace if e.kind == "skill_read")
    assert read == {("food", "SKILL.md"): 3, ("museum-object", "SKILL.md"): 3}


def test_only_what_the_model_asked_for_is_an_act(played: Played) -> None:
    assert played.record.counts["acts"] == len(CALLS)
    assert played.record.counts["claimed_events"] == 3 * (2 * len(CALLS) + 2) + 3  # and answer: 3 events


def pictures_of(body: Body) -> list[str]:
    """The sha256 of the pictures of tools, as a model gets them."""
    parts = [part for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
    data = [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in parts]
    return [hashlib.sha256(one).hexdigest() for one in data]
