"""The main process of a container: `python -m fieldmark.agents.worker AGENT`.

It imports the agent (and with it LangGraph) while nobody waits, asks for an episode, serves that one and
ends. When the gateway goes away, at whatever moment, it ends quietly with exit code 0.

What only some agents need is imported where it is used: Pydantic and the relay's asyncio are most of the
processor time of an episode of `closed_book`, which needs neither.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark.agents.base import Agent, AgentStopped
from fieldmark.agents.lease import lease, read_prompt
from fieldmark.agents.lifeline import hold_lifeline
from fieldmark.agents.posting import answer_event
from fieldmark.agents.registry import get_agent
from fieldmark.client import GatewayClient, GatewayGone
from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from fieldmark.task import Prompt
    from fieldmark.tools.base import Tool

Trouble = dict[str, str]
"""What `POST /done` says went wrong: `kind` (AgentStopped's, `crash` or `setup`) and one line `message`."""

_TRACEBACK = 8_000  # characters of a crash's traceback that are logged
_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}


def main(arguments: Sequence[str]) -> int:
    """Serve one episode; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m fieldmark.agents.worker AGENT", file=sys.stderr)
        return 2
    try:
        agent = get_agent(arguments[0])
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    _warm(agent)
    gateway = GatewayClient()
    hold_lifeline(gateway)
    if not agent.lean:
        from fieldmark.agents.relay import start_relay

        start_relay(gateway.path)
    with suppress(GatewayGone):  # the episode, or the run, is over: nobody is left to tell
        serve(agent, gateway)
    return 0


def serve(agent: Agent, gateway: GatewayClient) -> None:
    """One episode from lease to `POST /done`. Raises GatewayGone when it was ended from outside."""
    body = lease(gateway)
    prompt = read_prompt(body, lean=agent.lean)
    try:
        tools = _prepare(body, prompt, agent, gateway)
    except GatewayGone:
        raise
    except Exception as error:
        trouble: Trouble | None = _trouble("setup", error)
    else:
        trouble = _solve(prompt, agent, gateway, tools)
    gateway.post("/done", {"error": trouble})


def workspace() -> Path:
    """The agent's working directory; tests move it by FIELDMARK_WORKSPACE."""
    return Path(os.environ.get("FIELDMARK_WORKSPACE", "/workspace"))


def _warm(agent: Agent) -> None:
    """Import what the episode takes, while nobody waits. Imports make many objects and hardly any garbage."""
    gc.disable()
    agent.warm()
    if agent.uses_tools:
        from fieldmark.tools.registry import all_tools

        all_tools()
    gc.freeze()
    gc.enable()


def _prepare(body: bytes, prompt: Prompt, agent: Agent, gateway: GatewayClient) -> list[Tool]:
    """Lay out the workspace: the prompt for command-line tools, the view under a name that says nothing."""
    folder = workspace()
    (folder / ".prompt.json").write_bytes(body)
    picture = folder / f"picture{_ENDINGS.get(prompt.view.media_type, '')}"
    picture.write_bytes(gateway.view())
    if not agent.uses_tools:
        return []
    from fieldmark.tools.registry import offered_tool

    return [offered_tool(name, prompt.space) for name in prompt.tools]


def _solve(prompt: Prompt, agent: Agent, gateway: GatewayClient, tools: list[Tool]) -> Trouble | None:
    try:
        answer = agent.solve(prompt, gateway, tools)
        if not answer.posted:
            gateway.event("answer", **answer_event(answer))
    except GatewayGone:
        raise
    except AgentStopped as stop:
        return _trouble(stop.kind, stop)
    except BaseException as error:  # also MemoryError, RecursionError, SystemExit: all are the agent's crash
        import traceback

        text = "".join(traceback.format_exception(error))[-_TRACEBACK:]
        gateway.event("log", level="error", message=text)
        return _trouble("crash", f"{type(error).__name__}: {error}")
    return None


def _trouble(kind: str, error: BaseException | str) -> Trouble:
    return {"kind": kind, "message": " ".join(str(error).split())[:500]}


def leave(code: int) -> None:
    """End the process at once: threads that an agent left behind must not keep the container alive."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
