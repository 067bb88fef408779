"""Calls that a model writes into its text, for frameworks that offer tools in the system prompt.

A protocol is on only when the system prompt itself shows its tag and the request has no tools of its own:
otherwise such text is prose. What stands in the model's thinking is never a call.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from fieldmark.tools.model_text import without_thinking
from fieldmark.trace import CallRequest

CODE = "code"
"""The name of a call that is a block of Python."""
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_BLOCK = re.compile(r"<code>\s*(.*?)\s*(?:</code>|\Z)", re.DOTALL)
_TOOLS = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.DOTALL)
_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_ANSWER = "final_answer"


def calls_in(text: str, system: str, model_call: str) -> list[CallRequest]:
    """The calls of a reply. They have no ids: `m3-0` is the first of the reply of `m3`."""
    spoken = without_thinking(text)
    if "<tool_call>" in system:
        found = [_json_call(body) for body in _CALL.findall(spoken)]
    elif "<code>" in system:
        found = [call for body in _BLOCK.findall(spoken) for call in _code_calls(body)]
    else:
        found = []
    return [
        CallRequest(id=f"{model_call}-{index}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(found)
    ]


def offered_in(system: str) -> list[str] | None:
    """The tools that a system prompt lists in one of the simple ways; None: not known."""
    if "<tool_call>" in system:
        listed = _TOOLS.search(system)
        names = [name for line in (listed[1].splitlines() if listed else []) if (name := _listed(line))]
        return names or None
    return (_FUNCTION.findall(system) or None) if "<code>" in system else None


def called_in_code(code: str, offered: list[str]) -> list[str]:
    """The tools that a block of Python names in a call, in order; none when it cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = sorted(_calls(tree), key=lambda call: (call.lineno, call.col_offset))
    names = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    return [name for name in names if name in offered]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _json_call(body: str) -> tuple[str, str]:
    """The name and the raw arguments; a call that cannot be read keeps its text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        name = re.search(r'"name"\s*:\s*"([^"]*)"', body)
        return (name[1] if name else ""), body
    value = value if isinstance(value, dict) else {}
    arguments = value.get("arguments", value.get("parameters", {}))
    return str(value.get("name") or ""), arguments if isinstance(arguments, str) else json.dumps(arguments)


def _code_calls(body: str) -> Iterator[tuple[str, str]]:
    """One call for a block of code; the final answer in it is a call of its own."""
    answers = called_in_code(body, [_ANSWER])
    if not answers or re.sub(r"\bfinal_answer\s*\(.*\)\s*\Z", "", body, flags=re.DOTALL).strip():
        yield CODE, json.dumps({"code": body}, ensure_ascii=False)
    if answers:
        yield _ANSWER, json.dumps({"code": body}, ensure_ascii=False)


def _listed(line: str) -> str | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    function = value.get("function", value)
    return str(function["name"]) if isinstance(function, dict) and function.get("name") else None
