"""The worker as a real process: from lease to /done, crashes, and every way the gateway can go away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fieldmark.task import Prompt
from tests.agents.conftest import OpenGateway, StartWorker
from tests.agents.scripted_gateway import VIEW, make_prompt, says

JSON_ANSWER = says('{"answer": "Saab 340", "confidence": "85%", "rationale": "two engines"}')

# A worker whose agent is defined here: what `python -m fieldmark.agents.worker` does after its imports.
OWN_AGENT = """
import sys
from contextlib import suppress
from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.lifeline import hold_lifeline
from fieldmark.agents.worker import leave, serve
from fieldmark.client import GatewayClient, GatewayGone

class Own:
    name, uses_tools, lean = "own", False, False
    def solve(self, prompt, gateway, tools):
        {body}

gateway = GatewayClient()
hold_lifeline(gateway)
with suppress(GatewayGone):
    serve(Own(), gateway)
leave(0)
"""


def own(body: str) -> str:
    return OWN_AGENT.format(body=body)


def test_an_episode_from_lease_to_done(
    open_gateway: OpenGateway, start_worker: StartWorker, tmp_path: Path
) -> None:
    gateway = open_gateway(JSON_ANSWER)
    process = start_worker(gateway, "closed_book")
    assert process.wait(20) == 0
    [answer] = gateway.answers()
    assert (answer["text"], answer["confidence"], answer["rationale"]) == ("Saab 340", 0.85, "two engines")
    assert gateway.done == [{"error": None}]
    assert (tmp_path / "picture.png").read_bytes() == VIEW
    prompt = Prompt.model_validate_json((tmp_path / ".prompt.json").read_text("utf-8"))
    assert prompt == gateway.prompt


LEAN = """
import sys
from fieldmark.agents.registry import get_agent
from fieldmark.agents.worker import serve
from fieldmark.client import GatewayClient

serve(get_agent("{agent}"), GatewayClient())
heavy = {{"asyncio", "pydantic", "ssl", "email", "http.client", "dataclasses", "inspect"}}
print(sorted(heavy & {{*sys.modules}}))
"""


@pytest.mark.parametrize("agent", ["closed_book", "closed_book_google"])
def test_a_lean_agent_imports_nothing_that_takes_long(
    open_gateway: OpenGateway, start_worker: StartWorker, agent: str
) -> None:
    gateway = open_gateway(JSON_ANSWER)
    said, complaint = start_worker(gateway, "", code=LEAN.format(agent=agent)).communicate(timeout=20)
    assert (said, complaint) == ("[]\n", "")
    assert gateway.done == [{"error": None}]
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_idle_worker_asks_again_until_it_is_leased(
    open_gateway: OpenGateway, start_worker: StartWorker
) -> None:
    gateway = open_gateway(JSON_ANSWER)
    gateway.leased.clear()
    process = start_worker(gateway, "closed_book")
    deadline = time.monotonic() + 20
    while gateway.routes.count("GET /episode") < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    gateway.leased.set()
    assert process.wait(20) == 0
    assert gateway.done == [{"error": None}]


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("raise ValueError('line one\\nline two')", "crash", "ValueError: line one line two"),
        ("f = lambda: f(); f()", "crash", "RecursionError: maximum recursion depth exceeded"),
        ("raise MemoryError", "crash", "MemoryError:"),
        ("sys.exit(3)", "crash", "SystemExit: 3"),
        ("return 'just a string'", "crash", "AttributeError"),
    ],
)
def test_whatever_an_agent_raises_is_reported(
    open_gateway: OpenGateway, start_worker: StartWorker, body: str, kind: str, message: str
) -> None:
    gateway = open_gateway()
    process = start_worker(gateway, "", code=own(body))
    assert process.wait(20) == 0
    [done] = gateway.done
    assert done["error"]["kind"] == kind
    assert done["error"]["message"].startswith(message)
    assert "\n" not in done["error"]["message"]
    assert gateway.of_kind("log")[0]["message"].startswith("Traceback")
    assert gateway.answers() == []


def test_an_unknown_tool_is_a_fault_of_the_set_up(
    open_gateway: OpenGateway, start_worker: StartWorker
) -> None:
    gateway = open_gateway(prompt=make_prompt(tools=["telescope"]))
    assert start_worker(gateway, "react").wait(20) == 0
    assert gateway.done[0]["error"]["kind"] == "setup"


def test_a_huge_answer_is_cut(open_gateway: OpenGateway, start_worker: StartWorker) -> None:
    gateway = open_gateway(says("庆" * 100_000))
    assert start_worker(gateway, "closed_book").wait(20) == 0
    [answer] = gateway.answers()
    assert 5_000 < len(answer["text"].encode()) <= 60_000
    assert gateway.done == [{"error": None}]


def test_unknown_agent_is_bad_usage(open_gateway: OpenGateway, start_worker: StartWorker) -> None:
    process = start_worker(open_gateway(), "sleuth")
    _, complaint = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "the agents are amigo_player, closed_book, " in complaint


def test_gone_in_the_middle_ends_quietly(open_gateway: OpenGateway, start_worker: StartWorker) -> None:
    gateway = open_gateway()
    gateway.replies = [lambda request: gateway.gone.set() or {"http": 410, "error": {"message": "over"}}]  # type: ignore[func-returns-value]
    process = start_worker(gateway, "react")
    assert gateway.gone.wait(20)
    gone_at = time.monotonic()
    out, err = process.communicate(timeout=5)
    assert time.monotonic() - gone_at < 1
    assert (process.returncode, out, err) == (0, "", "")
    assert gateway.done == []


def test_a_gateway_that_is_not_there_ends_it_quietly(
    start_worker: StartWorker, open_gateway: OpenGateway
) -> None:
    gateway = open_gateway()
    gateway.close()
    process = start_worker(gateway, "closed_book")
    assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(600)"])
def test_broken_lifeline_ends_a_busy_worker_at_once(
    open_gateway: OpenGateway, start_worker: StartWorker, body: str
) -> None:
    gateway = open_gateway()
    process = start_worker(gateway, "", code=own(f"gateway.event('log', message='busy')\n        {body}"))
    assert gateway.lifeline_open.wait(20)
    while not gateway.events:
        time.sleep(0.02)
    cut_at = time.monotonic()
    gateway.cut_lifeline()
    assert process.wait(5) == 0
    assert time.monotonic() - cut_at < 1
