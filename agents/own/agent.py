"""OwnAgent: a file or folder of the user's own as an agent. Its code runs inside a container alone."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.own.answering import answer_of
from fieldmark.agents.own.asked import Asked
from fieldmark.agents.own.source import Source, read_source
from fieldmark.agents.own.tools import Tools
from fieldmark.agents.pictures import Pictures
from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.errors import UsageError
from fieldmark.task import Prompt
from fieldmark.user_file import run_file

if TYPE_CHECKING:
    from fieldmark.tools.base import Tool

MAIN = "agent.py"
"""Of a folder: the file that makes the agent. The others it may import by their names."""
PRINTED = 8_000
"""Characters of what it prints that the trace keeps, the last ones."""
_MODULE = "own_agent"
_GRAPH = "fieldmark.agents.own.graph"


class OwnAgent:
    """`solve` runs the file and what it defines; whatever that raises is the agent's crash."""

    without_tools = frozenset({"answer"})  # what it returns is its answer
    lean = False

    def __init__(self, name: str, main: Path, source: Source) -> None:
        self.name = name
        self.uses_tools = source.uses_tools
        self.needs = source.needs
        self._main = main
        self._source = source

    def warm(self) -> None:
        """Import what its file will import, as far as it is installed, while nobody waits; not the file."""
        for name in (*self._source.imports, *([_GRAPH] if self._source.entry == "graph" else [])):
            with suppress(Exception):
                importlib.import_module(name)

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Run it. Raises what it raises, TypeError for a return value that is no answer, AgentStopped."""
        pictures = Pictures(gateway, prompt)
        folder = Path(os.environ.get("FIELDMARK_WORKSPACE", "/workspace"))
        asked = Asked(prompt, gateway, pictures, next(folder.glob("picture.*")))
        offered = Tools(prompt, gateway, tools, pictures)
        with _recorded_prints(gateway):
            return self._run(asked, offered)

    def _run(self, asked: Asked, tools: Tools) -> AgentAnswer:
        if self._main.name == MAIN:
            sys.path.insert(0, str(self._main.parent))
        module = run_file(self._main, _MODULE)
        if self._source.entry == "graph":
            from fieldmark.agents.own.graph import end_of

            return answer_of(end_of(module.graph, asked, tools), "graph")
        return answer_of(_finished(module.solve(asked, tools)), "solve()")


class _Tail(io.TextIOBase):
    """The last PRINTED characters of what is written."""

    text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text)[-PRINTED:]
        return len(text)


@contextmanager
def _recorded_prints(gateway: GatewayClient) -> Iterator[None]:
    """What is printed meanwhile becomes a `log` event."""
    printed = _Tail()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        if printed.text.strip():
            with suppress(GatewayRefused):
                gateway.event("log", level="info", message=printed.text)


def load(path: Path) -> OwnAgent:
    """Read the file, or the `agent.py` of a folder, without running it. UsageError when it makes no agent."""
    main = path / MAIN if path.is_dir() else path
    if not main.is_file():
        what = f"holds no {MAIN}" if path.is_dir() else "is not there"
        raise UsageError(f"--agent {path} {what}: `fieldmark new agent` writes a file that works")
    return OwnAgent(main.parent.resolve().name if path.is_dir() else path.stem, main, read_source(main))


def _finished(said: Any) -> Any:
    """What an `async def solve` comes to."""
    return asyncio.run(said) if inspect.iscoroutine(said) else said
