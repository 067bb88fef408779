"""`fieldmark mcp`: what a client gets, whatever it sends, and how the server ends."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ImageContent, TextContent
from PIL import Image

import fieldmark
from fieldmark.task import SkillCard
from tests.agents.scripted_gateway import CROP, ScriptedGateway, make_prompt
from tests.conftest import FIELDMARK
from tests.model_server import ModelServer
from tests.tools.pictures import scene

Container = tuple[ScriptedGateway, dict[str, str]]
MINI = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini"
FOOD = SkillCard(name="food", description="Dishes.")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a photo.png"
    scene(5).save(path)
    return path


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    """A gateway, and the environment of a program beside its worker."""
    prompt = make_prompt(tools=["crop_zoom", "ocr", "read_skill", "answer"], skills=[FOOD])
    gateway = ScriptedGateway(prompt, [])
    (tmp_path / ".prompt.json").write_text(prompt.model_dump_json())
    yield gateway, {"FIELDMARK_SOCKET": gateway.path, "FIELDMARK_WORKSPACE": str(tmp_path)}
    gateway.close()


def client(*options: object, **env: str) -> Client:
    """The SDK's own client of `fieldmark mcp OPTIONS`, which it starts."""
    server = StdioServerParameters(command=FIELDMARK, args=["mcp", *map(str, options)], env=env)
    return Client(stdio_client(server))


def parts(result: CallToolResult) -> tuple[str, list[bytes]]:
    """The text and the pictures of a result."""
    text = "".join(part.text for part in result.content if isinstance(part, TextContent))
    return text, [base64.b64decode(part.data) for part in result.content if isinstance(part, ImageContent)]


class Wire:
    """Lines to a server and back, for what no well-behaved client sends."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "t", "version": "1"},
        )
        self.answer()
        self.send({"method": "notifications/initialized"})

    def ask(self, method: str, id: int = 0, **params: Any) -> None:
        self.send({"id": id, "method": method, "params": params})

    def call(self, id: int, name: str, arguments: Any) -> None:
        self.ask("tools/call", id, name=name, arguments=arguments)

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())


@contextmanager
def wire(env: dict[str, str]) -> Iterator[Wire]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [FIELDMARK, "mcp"], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **env}
    )
    try:
        yield Wire(process)
    finally:
        process.kill()
        process.communicate()


async def test_on_the_host_a_picture_and_a_text(picture: Path) -> None:
    async with client("--image", picture) as mcp:
        offered = [tool.name for tool in (await mcp.list_tools()).tools]
        result = await mcp.call_tool("crop_zoom", {"x1": 10, "y1": 10, "x2": 200, "y2": 150})
    assert {"crop_zoom", "ocr"} <= set(offered)
    assert not {"reverse_image_search", "aircraft_registry", "open_page"} & set(offered)
    text, [shown] = parts(result)
    assert text.startswith("Shown: original pixels [10,10,200,150]")
    assert text.splitlines()[-1].startswith('data: {"found":true')
    assert Image.open(io.BytesIO(shown)).size == (768, 566)


async def test_the_result_has_no_structured_content(picture: Path) -> None:
    """Claude Code, Codex and OpenCode show a model that field alone: no text, no picture."""
    async with client("--image", picture) as mcp:
        result = await mcp.call_tool("crop_zoom", {"x1": 10, "y1": 10, "x2": 200, "y2": 150})
    assert result.structured_content is None


async def test_on_the_host_the_options_say_which_tools_there_are(picture: Path) -> None:
    async with client("--site", MINI / "site") as without:
        assert {tool.name for tool in (await without.list_tools()).tools} == {
            *("answer", "open_page", "read_skill", "web_search")
        }
    with ModelServer([]) as server:
        eyes = ("--eyes", "scripted", "--eyes-url", server.url)
        async with client("--image", picture, "--index", MINI / "index", *eyes) as mcp:
            offered = {tool.name for tool in (await mcp.list_tools()).tools}
    assert {"inspect_image", "compare_images", "reverse_image_search"} <= offered
    assert not {"browser", "classify_image"} & offered


async def test_inside_a_container_the_tools_and_skills_of_the_episode(container: Container) -> None:
    gateway, env = container
    async with client(**env) as mcp:
        assert [tool.name for tool in (await mcp.list_tools()).tools] == gateway.prompt.tools
        assert "- food: Dishes." in (mcp.instructions or "")
        result = await mcp.call_tool("crop_zoom", CROP)
    assert parts(result)[1][0].startswith(b"region /image/region?")
    assert [(event["kind"], event.get("door")) for event in gateway.events] == [
        ("tool_call", "mcp"),
        ("tool_result", None),
    ]


async def test_calls_run_side_by_side(container: Container) -> None:
    gateway, env = container
    gateway.before_region = threading.Barrier(4, timeout=30).wait
    async with client(**env) as mcp:
        results = await asyncio.gather(*(mcp.call_tool("crop_zoom", {**CROP, "x1": x}) for x in range(8)))
    assert not any(result.is_error for result in results)
    assert len(gateway.of_kind("tool_result")) == 8


def test_a_cancelled_call_holds_nobody_up_and_is_still_recorded(container: Container) -> None:
    gateway, env = container
    begun, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        goes_on.wait()

    gateway.before_region = hold
    with wire(env) as server:
        server.call(1, "crop_zoom", CROP)
        assert begun.wait(30)  # one that is cancelled before it begins is never made
        server.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
        server.call(2, "crop", CROP)
        assert server.answer()["id"] == 2
        goes_on.set()
        server.call(3, "crop_zoom", CROP)
        assert server.answer()["id"] == 3
        assert until(lambda: len(gateway.of_kind("tool_result")) == 3)
    assert sorted(event["name"] for event in gateway.of_kind("tool_call")) == [
        "crop",
        "crop_zoom",
        "crop_zoom",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "says"),
    [
        ("crop_zoom", {"x1": "left"}, "invalid_args", "x1: expected a plain number"),
        ("crop_zoom", [1, 2], "invalid_args", "must be one JSON object, got list"),
        ("crop_zoom", "{}{}", "invalid_args", "not valid JSON"),
        ("crop_zoom ", CROP, "not_found", "did you mean crop_zoom?"),
        ("crop_zoom \ud83d", CROP, "not_found", "no tool named 'crop_zoom ?'"),
        ("aircraft_registry", {}, "not_found", "the tools are crop_zoom, ocr, read_skill, answer"),
    ],
)
def test_a_wrong_call_is_answered_and_recorded(
    container: Container, name: str, arguments: Any, kind: str, says: str
) -> None:
    gateway, env = container
    with wire(env) as server:
        server.call(1, name, arguments)
        answer = server.answer()
    assert answer["result"]["isError"]
    assert says in answer["result"]["content"][0]["text"]
    [called] = gateway.of_kind("tool_call")
    assert called["arguments"] == arguments
    assert gateway.of_kind("tool_result")[0]["error_kind"] == kind


def test_when_the_episode_is_over_the_server_ends_without_a_word(container: Container) -> None:
    gateway, env = container
    with wire(env) as server:
        gateway.gone.set()
        server.call(1, "crop_zoom", CROP)
        assert server.process.wait(30) == 0
        assert server.process.communicate() == ("", "")


def test_it_ends_when_the_client_closes_stdin_though_a_call_hangs(container: Container) -> None:
    gateway, env = container
    busy = threading.Barrier(2, timeout=30)

    def hang() -> None:
        busy.wait()
        threading.Event().wait(60)

    gateway.before_region = hang
    with wire(env) as server:
        server.call(1, "crop_zoom", CROP)
        busy.wait()
        _, errors = server.process.communicate(timeout=30)
        assert (server.process.returncode, errors) == (0, "")


def test_ctrl_c_ends_it_at_once(container: Container) -> None:
    _, env = container
    with wire(env) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == -signal.SIGINT
        assert server.process.communicate()[1] == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "name the picture: --image FILE"),
        (["--image", __file__], "not a readable picture"),
        (["--image", "/nowhere.png"], "/nowhere.png"),
    ],
)
def test_bad_usage_is_exit_2_and_one_line(options: list[str], says: str) -> None:
    done = subprocess.run([FIELDMARK, "mcp", *options], capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def until(condition: Callable[[], bool]) -> bool:
    """Whether it holds within half a minute."""
    end = time.monotonic() + 30
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return held
