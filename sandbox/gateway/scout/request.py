"""What `builtin/scout` reads in a request: which tools it can reach, what was done already, what is asked."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fieldmark.sandbox.gateway.scout.told import told_calls

TOOLS = (
    "ocr",
    "crop_zoom",
    "aircraft_registry",
    "reverse_image_search",
    "classify_image",
    "remember",
    "inspect_picture",
    "answer",
)
SHELLS = ("bash", "exec", "shell", "run_shell_command", "exec_command", "Bash")


@dataclass(frozen=True)
class Step:
    """One call of ours in the conversation. `data` is None when it failed or has not been answered;
    `number` is what notes cite its result by.
    """

    tool: str
    arguments: dict[str, Any]
    data: Any
    number: int | None = None


@dataclass(frozen=True)
class Shell:
    """A tool that runs commands: its name, and the JSON schema of its arguments."""

    name: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """A request, read. `names` maps our tools to the names they are offered under; `finish` is a tool of the
    framework's own that takes the final answer. `said`: role and text of each message.
    """

    question: str
    wants_json: bool
    names: dict[str, str]
    shell: Shell | None
    steps: list[Step]
    finish: str | None = None
    said: list[tuple[str, str]] = field(default_factory=list)

    def offers(self, tool: str) -> bool:
        return tool in self.names or self.shell is not None

    def done(self, tool: str) -> list[Step]:
        return [step for step in self.steps if step.tool == tool]

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The call by the tool's own name, else through the shell."""
        if tool in self.names or self.shell is None:
            return {"name": self.names.get(tool, tool), "arguments": arguments}
        return {"name": self.shell.name, "arguments": _command(self.shell, tool, arguments)}


def read_request(request: Any) -> Seen:
    """Read a Chat Completions request of any oddity; what cannot be read counts as absent."""
    body = _dict(request)
    messages = [row for row in _list(body.get("messages")) if isinstance(row, dict)]
    offered = {name: spec for name, spec in _offered(body) if name}
    names = {tool: name for tool in TOOLS if (name := _find(tool, list(offered)))}
    finish = "final_answer" if "final_answer" in offered else None
    shell = next((Shell(name, offered[name]) for name in SHELLS if name in offered), None)
    said = [(str(row.get("role")), _text(row)) for row in messages]
    return Seen(
        _question(messages), _wants_json(messages), names, shell, list(_steps(messages)), finish, said
    )


# --- tools ----------------------------------------------------------------------------------------


def _offered(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in _list(body.get("tools")):
        function = _dict(_dict(row).get("function") or row)
        yield str(function.get("name") or ""), _dict(function.get("parameters"))


def _find(tool: str, offered: list[str]) -> str | None:
    """The tool's name as offered: itself, or with a prefix or suffix such as `mcp__fieldmark__ocr`."""
    if tool in offered:
        return tool
    ours = re.compile(rf"(?=.*fieldmark)(?:.*[_.:/-])?{tool}(?:[_.:/-].*)?", re.IGNORECASE)
    other = re.compile(rf"(?:.*(?:__|[.:/-]))?{tool}(?:(?:__|[.:/-]).*)?", re.IGNORECASE)
    return next((name for form in (ours, other) for name in offered if form.fullmatch(name)), None)


def _command(shell: Shell, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(arguments, ensure_ascii=False)
    command = f"fieldmark tool {tool} --json {shlex.quote(text)}"
    properties = _dict(shell.parameters.get("properties"))
    key = next((name for name in ("command", "cmd", "script") if name in properties), "command")
    listed = _dict(properties.get(key)).get("type") == "array"
    filled: dict[str, Any] = {key: ["bash", "-lc", command] if listed else command}
    for name in _list(shell.parameters.get("required")):
        if _dict(properties.get(name)).get("type") == "string":
            filled.setdefault(name, f"fieldmark tool {tool}")
    return filled


# --- what was done --------------------------------------------------------------------------------


def _steps(messages: list[dict[str, Any]]) -> Iterator[Step]:
    told = [row for row in messages if row.get("role") == "tool"]
    results = {str(row.get("tool_call_id") or row.get("id")): _text(row) for row in told}  # id: Qwen-Agent
    for message in messages:
        for call in map(_dict, _list(message.get("tool_calls"))):
            function = _dict(call.get("function"))
            name, arguments = _called(str(function.get("name") or ""), _parsed(function.get("arguments")))
            if name:
                result = results.get(str(call.get("id")), "")
                yield Step(name, arguments, _data(result), _number(result))
    for called, given, result in told_calls(messages, _text):
        name, arguments = _called(called, given)
        if name:
            yield Step(name, arguments, _data(result), _number(result))


def _called(name: str, arguments: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Which of our tools a call was, also one that went through a shell."""
    if name in SHELLS:
        text = " ".join(word for value in arguments.values() for word in _words(value))
        match = re.search(r"fieldmark tool (\w+) --json (.*)", text, re.DOTALL)
        return (match[1], _parsed(_unquoted(match[2]))) if match else (None, {})
    return next((tool for tool in TOOLS if _find(tool, [name])), None), arguments


def _words(value: Any) -> list[str]:
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _unquoted(text: str) -> str:
    try:
        return next(iter(shlex.split(text)), "")
    except ValueError:
        return ""


def _data(text: str) -> Any:
    """The machine-readable part of a result: its last line `data: {…}`, or the command line's JSON line."""
    wrapped = _json(text)  # mini-swe-agent puts what a command printed into JSON of its own
    if isinstance(wrapped, dict) and isinstance(wrapped.get("output"), str):
        text = wrapped["output"]
    for line in map(str.strip, reversed(text.splitlines())):
        value = _json(line.removeprefix("data:").strip())
        if isinstance(value, dict):
            return value if line.startswith("data:") else value.get("data")
    return None


def _number(text: str) -> int | None:
    """The last `(result 12)` in it: the tools write it after whatever they found."""
    found = re.findall(r"\(result (\d{1,6})\)", text)
    return int(found[-1]) if found else None


# --- what is asked --------------------------------------------------------------------------------


def _question(messages: list[dict[str, Any]]) -> str:
    """What follows `Question:` in the user's words, else the last thing said before any reply."""
    first = next((n for n, row in enumerate(messages) if row.get("role") == "assistant"), len(messages))
    asked = [_text(row) for row in messages[:first] if row.get("role") == "user"]
    for text in reversed(asked):
        match = re.search(r"^\W*Question:\s*(.+)", text, re.IGNORECASE | re.MULTILINE)
        if match:
            return match[1]
    return asked[-1] if asked else ""


def _wants_json(messages: list[dict[str, Any]]) -> bool:
    text = "\n".join(_text(row) for row in messages if row.get("role") in ("system", "developer", "user"))
    return "json" in text.lower() and '"answer"' in text


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


# --- tolerance ------------------------------------------------------------------------------------


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None


def _parsed(arguments: Any) -> dict[str, Any]:
    return _dict(_json(arguments) if isinstance(arguments, str) else arguments)
