"""ExternalAgent: an agent of others, started by its adapter, its answer read by our one parser."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.ending import as_answer
from fieldmark.agents.external import state
from fieldmark.agents.external.adapter import Adapter, Collected, Launch, Output, Setting
from fieldmark.agents.external.process import carry_out
from fieldmark.agents.forms import FORMS
from fieldmark.agents.messages import notes_text, prompt_text
from fieldmark.agents.parsing import Read
from fieldmark.agents.relay import DEFAULT_PORT
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Prompt

if TYPE_CHECKING:
    from fieldmark.tools.base import Tool

MAX_TAIL = 4_000
"""Characters of its last output that the trace keeps when it failed."""


class ExternalAgent:
    """Tools reach it as a command line and over MCP; skills as folders of files."""

    uses_tools = True
    without_tools = frozenset({"answer", "read_skill"})  # its final text is its answer; skills are folders
    lean = False

    def __init__(self, adapter: Adapter) -> None:
        self.name = adapter.name
        self.needs: Needs = adapter.needs
        self.memory = tuple(adapter.memory)
        self._adapter = adapter

    def warm(self) -> None:
        """Nothing is left to import: what is heavy is a program of its own."""

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Start it, wait, read its final text, else the last that its model said. Raises AgentStopped."""
        setting = make_setting(prompt, gateway, tools)
        launch = self._adapter.prepare(setting)
        roots = {"home": setting.home, "workspace": setting.workspace}
        carried = state.lay_out(gateway, self.memory, roots)
        ours = _lay_out(launch, setting.skills)
        try:
            output = carry_out(self._on_path(launch), setting.workspace, self._adapter.is_final)
        except OSError as error:
            raise AgentStopped("crash", f"{launch.argv[0]} cannot be started: {error}") from None
        if carried:
            state.leave(gateway, carried, ours)
        said = self._adapter.collect(output, setting)
        gateway.event("log", level="info", message=_summary(self.name, output), native=_native(output, said))
        if not said.text.strip() and (said.error or output.exit_code):
            gateway.event("log", level="error", message=_tail(output))
        return self._answer(said, output, gateway, FORMS[prompt.reply].read)

    def _on_path(self, launch: Launch) -> Launch:
        kit = self.needs.kit
        path = f"{kit.path}:{os.environ.get('PATH', '')}" if kit else os.environ.get("PATH", "")
        return replace(launch, env={"PATH": path, **launch.env})

    def _answer(self, said: Collected, output: Output, gateway: GatewayClient, read: Read) -> AgentAnswer:
        raw = said.text.strip() or gateway.get("/last-reply").body.decode()
        parsed = read(raw)
        if parsed.answer:
            return as_answer(parsed, raw)
        if not said.silent and (said.error or output.exit_code):
            why = said.error or f"{self.name} ended with code {output.exit_code}"
            raise AgentStopped("crash", why[:500])
        raise AgentStopped("empty", f"{self.name} ended without an answer")


def make_setting(prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> Setting:
    """The workspace as the worker laid it out, and the skills from the gateway."""
    workspace = Path(os.environ.get("FIELDMARK_WORKSPACE", "/workspace"))
    picture = next(workspace.glob("picture.*"))
    packed = gateway.get("/skills/files").json() if prompt.skills else {}
    skills = {
        name: {path: base64.b64decode(data) for path, data in files.items()} for name, files in packed.items()
    }
    port = int(os.environ.get("FIELDMARK_RELAY_PORT") or DEFAULT_PORT)
    return Setting(
        prompt, task_text(prompt, picture, tools), picture, workspace, Path.home(),
        f"http://127.0.0.1:{port}/v1", skills,
    )  # fmt: skip


def task_text(prompt: Prompt, picture: Path, tools: Sequence[Tool]) -> str:
    """What an agent of others is asked: the question, the picture's file, the tools, how to answer."""
    named = [tool for tool in tools if tool.name not in ("answer", "read_skill")]
    lines = "\n".join(f"- {tool.name}: {tool.description.splitlines()[0]}" for tool in named)
    tools_text = Template(prompt_text("external_tools")).substitute(tools=lines) + "\n\n" if named else ""
    return Template(prompt_text("external")).substitute(
        question=prompt.question,
        picture=picture,
        width=prompt.image.width,
        height=prompt.image.height,
        view_width=prompt.view.width,
        view_height=prompt.view.height,
        tools=tools_text,
        ending=prompt_text(FORMS[prompt.reply].external),
        notes="".join(f"{note}\n\n" for note in prompt.picture_notes) + notes_text(prompt.notes),
    )


def _lay_out(launch: Launch, skills: Mapping[str, Mapping[str, bytes]]) -> set[Path]:
    """Write what is ours; the paths of it."""
    files = {path: text.encode() for path, text in launch.files.items()}
    if launch.skills:
        files |= {
            launch.skills / name / inside: data
            for name, contents in skills.items()
            for inside, data in contents.items()
        }
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return set(files)


def _summary(name: str, output: Output) -> str:
    how = (
        "was killed: it had answered and did not end"
        if output.lingered
        else f"ended, code {output.exit_code}"
    )
    return f"{name} {how}"


def _native(output: Output, said: Collected) -> dict[str, object]:
    """What its own output says, to be held against what the gateway saw."""
    row = {"exit_code": output.exit_code, "tool_calls": said.tool_calls, "error": said.error}
    return {key: value for key, value in row.items() if value is not None}


def _tail(output: Output) -> str:
    return f"{output.stdout[-MAX_TAIL:]}\n{output.stderr[-MAX_TAIL:]}".strip() or "it printed nothing"
