"""OpenClaw (https://openclaw.org), unchanged: `openclaw agent exec`, headless, without its gateway."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fieldmark.agents.external.adapter import Collected, Launch, Output, Setting
from fieldmark.needs import Kit, Needs

VERSION = "2026.9.6"
KIT = Kit("openclaw", npm=(f"openclaw@{VERSION}",))
PIXELS = 2048
"""Longest side of a picture that is sent as it is: the most it lets itself be told; 1200 unless told."""
LEAN = ("read", "exec", "process", "view_image", "bundle-mcp")
"""What is left of its tools in the lean condition: to read, to run programs, to look, and ours."""
PLUGIN_SKILLS = ("browser-automation", "canvas")
"""Skills of its plugins, which the switch for its bundled ones leaves on."""
MEMORY = tuple(
    f"workspace/{name}"
    for name in (
        "AGENTS.md",
        "IDENTITY.md",
        "MEMORY.md",
        "SOUL.md",
        "TOOLS.md",
        "USER.md",
        "memory",
        "skills",
    )
)
"""What each new session reads again, or searches. Earlier sessions are not among it."""
_SILENT = "Agent couldn't generate a response"
_QUIET = ("OPENCLAW_OFFLINE", "OPENCLAW_NO_AUTO_UPDATE", "DO_NOT_TRACK", "CI", "NO_COLOR")


class OpenClaw:
    """`agent exec --json` prints one JSON object at its end. `tools`: those it may have; none: as it comes.

    A picture that its question names, in its working directory, is attached to the question.
    """

    needs = Needs(2560, 2.0, 512, KIT)
    memory = MEMORY

    def __init__(self, name: str, tools: Sequence[str] = ()) -> None:
        self.name = name
        self._tools = tuple(tools)

    def prepare(self, setting: Setting) -> Launch:
        """Its configuration. The gateway alone ends it for the time it takes: it has no limit of its own."""
        config = setting.home / "openclaw.json"
        command = ["openclaw", "agent", "exec", "--config", str(config), "--cwd", str(setting.workspace)]
        return Launch(
            argv=[*command, "--timeout", "0", "--json", "--message-file", "-"],
            files={config: json.dumps(self._config(setting), indent=2)},
            env={**dict.fromkeys(_QUIET, "1"), "NODE_COMPILE_CACHE": f"{KIT.folder}/warm"},
            stdin=setting.text,
            skills=setting.workspace / "skills",
        )

    def is_final(self, stdout: str) -> bool:
        """Its one JSON object is whole."""
        return bool(_envelope(stdout))

    def collect(self, output: Output, setting: Setting) -> Collected:
        """What its JSON object says."""
        said = _envelope(output.stdout)
        error, summary = said.get("error"), said.get("toolSummary")
        message = f"{error.get('kind')}: {error.get('message')}" if isinstance(error, dict) else None
        calls = summary.get("calls") if isinstance(summary, dict) else None
        return Collected(str(said.get("final") or ""), message, calls, _SILENT in (message or ""))

    def _config(self, setting: Setting) -> dict[str, Any]:
        prompt = setting.prompt
        named = {"model": {"primary": f"gateway/{prompt.model}"}}
        if seeing := prompt.eyes or (prompt.model if prompt.sees else None):
            named["imageModel"] = {"primary": f"gateway/{seeing}"}
        return {
            "agents": {"defaults": {**named, "imageMaxDimensionPx": PIXELS}},
            "models": {"mode": "replace", "providers": {"gateway": _provider(setting)}},
            "tools": {"allow": list(self._tools), "toolSearch": False} if self._tools else {},
            "skills": {
                "allowBundled": ["none"],
                "entries": {name: {"enabled": False} for name in PLUGIN_SKILLS},
            },
            "mcp": {"servers": _servers(setting)},
            "update": {"checkOnStart": False},
        }


def _provider(setting: Setting) -> dict[str, Any]:
    prompt = setting.prompt
    models = [_model(setting, prompt.model, sees=prompt.sees)]
    if prompt.eyes and prompt.eyes != prompt.model:
        models.append(_model(setting, prompt.eyes, sees=True))
    return {
        "baseUrl": setting.base_url,
        "apiKey": "none",
        "api": "openai-completions",
        "timeoutSeconds": int(3 * prompt.limits.seconds),
        "models": models,
    }


def _model(setting: Setting, name: str, *, sees: bool) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "reasoning": False,
        "input": ["text", "image"] if sees else ["text"],
        "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
        "contextWindow": setting.prompt.context,
        "maxTokens": setting.prompt.output,
    }


def _servers(setting: Setting) -> dict[str, Any]:
    if not setting.prompt.tools:
        return {}
    times = {"connectionTimeoutMs": 60_000, "requestTimeoutMs": 60_000}
    return {"fieldmark": {"command": "fieldmark", "args": ["mcp"], **times}}


def _envelope(stdout: str) -> dict[str, Any]:
    """Its JSON object; empty while there is none."""
    try:
        said = json.loads(stdout)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
