"""OpenCode (https://opencode.ai), unchanged: `opencode run`, headless, its tools and ours over MCP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fieldmark.agents.base import Agent
from fieldmark.agents.external.adapter import Collected, Launch, Output, Setting
from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.needs import Kit, Needs

VERSION = "1.18.33"
PIXELS = 16_384
"""Longest side of a picture that is sent as it is; OpenCode makes larger ones smaller, 2000 unless told."""
_OFF = (
    "AUTOCOMPACT",  # a summary would throw the picture and the question away
    *("AUTOUPDATE", "CLAUDE_CODE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE"),
)
MEMORY = (
    *(f"home/.config/opencode/{name}" for name in ("AGENTS.md", "skills", "agents", "commands")),
    *("workspace/AGENTS.md", "workspace/.opencode/skills"),
)
"""What each new session reads again. Earlier sessions, in its SQLite database, are not among it."""


class OpenCode:
    """`opencode run --format json` prints one event a line; the last text is the answer."""

    name = "opencode"
    needs = Needs(2560, 2.0, 512, Kit("opencode", npm=(f"opencode-ai@{VERSION}",), node=False))
    memory = MEMORY

    def prepare(self, setting: Setting) -> Launch:
        """Its configuration, and its skills in the working directory. The question comes by stdin: as an
        argument it would reach the model in quotation marks.
        """
        config = setting.home / "opencode.json"
        command = [
            "opencode",
            "run",
            "--format",
            "json",
            "--pure",
            "--title",
            "picture",
            "-m",
            _model(setting),
        ]
        picture = ["-f", str(setting.picture)] if setting.prompt.sees else []
        off = {f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}
        return Launch(
            argv=[*command, *picture],
            files={config: json.dumps(_config(setting), indent=2)},
            env={**off, "OPENCODE_CONFIG": str(config)},
            stdin=setting.text,
            skills=setting.workspace / ".opencode" / "skills",
        )

    def is_final(self, stdout: str) -> bool:
        """A step that ended without asking for tools is the last."""
        finished = [event for event in _events(stdout) if event.get("type") == "step_finish"]
        return bool(finished) and _part(finished[-1]).get("reason") == "stop"

    def collect(self, output: Output, setting: Setting) -> Collected:
        """The text of its last step; earlier texts are musings."""
        text, error, calls = "", None, 0
        for event in _events(output.stdout):
            kind, part = event.get("type"), _part(event)
            if kind == "step_start":
                text = ""
            elif kind == "text":
                text += str(part.get("text") or "")
            elif kind == "tool_use":
                calls += 1
            elif kind == "error":
                error = _message(event.get("error"))
        return Collected(text, error, calls)


def _model(setting: Setting) -> str:
    return f"gateway/{setting.prompt.model}"


def _config(setting: Setting) -> dict[str, Any]:
    prompt = setting.prompt
    kinds = ["text", "image"] if prompt.sees else ["text"]
    model = {
        "name": prompt.model,
        "attachment": prompt.sees,
        "tool_call": True,
        "temperature": True,
        "modalities": {"input": kinds, "output": ["text"]},
        "limit": {"context": prompt.context, "output": prompt.output},
    }
    options = {"baseURL": setting.base_url, "apiKey": "none"}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "gateway",
        "options": options,
        "models": {prompt.model: model},
    }
    bytes_ = 4 * 2**20 * 10
    sizes = {"auto_resize": True, "max_width": PIXELS, "max_height": PIXELS, "max_base64_bytes": bytes_}
    return {
        "$schema": "https://opencode.ai/config.json",
        **{"autoupdate": False, "share": "disabled", "snapshot": False},
        **{"model": _model(setting), "small_model": _model(setting), "enabled_providers": ["gateway"]},
        "provider": {"gateway": provider},
        "attachment": {"image": sizes},
        "permission": {"*": "allow", "external_directory": "allow"},
        "mcp": _tools(setting),
    }


def _tools(setting: Setting) -> dict[str, Any]:
    if not setting.prompt.tools:
        return {}
    return {
        "fieldmark": {"type": "local", "command": ["fieldmark", "mcp"], "enabled": True, "timeout": 60_000}
    }


def _events(stdout: str) -> Iterator[dict[str, Any]]:
    for line in stdout.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _part(event: dict[str, Any]) -> dict[str, Any]:
    part = event.get("part")
    return part if isinstance(part, dict) else {}


def _message(error: Any) -> str:
    """What an error event says, from its depth."""
    data = error.get("data") if isinstance(error, dict) else None
    told = data.get("message") if isinstance(data, dict) else None
    return " ".join(str(told or error).split())[:500]


AGENT: Agent = ExternalAgent(OpenCode())
