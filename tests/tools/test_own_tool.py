"""A tool of the user's own: a marked function, or a TOOL; every fault is one line with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.own_code import load_tools
from fieldmark.tools.base import schema
from fieldmark.tools.own import load, load_inside, uses_context
from tests.conftest import Fieldmark

HEAD = "from fieldmark.tools.own import tool\n@tool\n"
GREET = (
    HEAD
    + '''def greet(name: str, times: int = 1):
    """Greet someone."""
    return {"found": True, "text": "hello " * times + name}
'''
)


def write(folder: Path, text: str, name: str = "t.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_function_is_a_tool(tmp_path: Path) -> None:
    found = load(write(tmp_path, GREET))
    function = schema(found)["function"]
    assert (function["name"], function["description"]) == ("greet", "Greet someone.")
    assert function["parameters"]["required"] == ["name"]
    assert function["parameters"]["properties"]["times"] == {"type": "integer", "default": 1}
    assert not uses_context(found)


def test_a_tool_written_out_in_full(tmp_path: Path) -> None:
    text = """
from fieldmark.tools.base import Args, Tool, ToolResult
class NoArgs(Args): ...
TOOL = Tool("wait", "Do nothing.", NoArgs, "other", lambda args, context: ToolResult("done"))
"""
    found = load(write(tmp_path, text))
    assert (found.name, uses_context(found)) == ("wait", True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = (", "t.py:1: SyntaxError: "),
        ("\nimport nowhere", "t.py:2: ModuleNotFoundError: No module named 'nowhere'"),
        ("raise SystemExit(3)", "t.py:1: SystemExit: 3"),
        ("def f(): ...", "defines no TOOL: mark one function with @tool"),
        (HEAD + "def f(x: int): ...", "TypeError: f has no docstring"),
        (HEAD + 'def f(x):\n    "Do."', "TypeError: f: x has no type: write x: str"),
        (HEAD + 'def f(*x: int):\n    "Do."', "TypeError: f: *x: int cannot be an argument"),
        (HEAD + 'def Fine(x: int):\n    "Do."', "name 'Fine': use a-z, 0-9 and _"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as fault:
        load(write(tmp_path, text))
    assert told in str(fault.value)


def test_inside_a_container_it_is_found_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, GREET, "greet.py")
    write(tmp_path, "import nowhere", "lost.py")
    found = load_inside("greet", tmp_path)
    assert found
    assert found.name == "greet"
    assert load_inside("../greet", tmp_path) is load_inside("ocr", tmp_path) is None
    with pytest.raises(UsageError, match="the tool lost cannot be loaded in its container: ModuleNotFound"):
        load_inside("lost", tmp_path)


def test_names_that_are_taken_are_refused(tmp_path: Path) -> None:
    ocr = write(tmp_path, GREET.replace("greet", "ocr"), "a.py")
    with pytest.raises(UsageError, match="the name 'ocr' is a tool of fieldmark: choose another"):
        load_tools([ocr])
    base = write(tmp_path, GREET.replace("greet", "base"), "b.py")
    with pytest.raises(UsageError, match="the name 'base' is a word of --tools"):
        load_tools([base])
    twins = [write(tmp_path, GREET, "c.py"), write(tmp_path, GREET, "d.py")]
    with pytest.raises(UsageError, match=r"the name 'greet' is /.*c\.py: choose another"):
        load_tools(twins)


def test_a_file_for_its_owner_alone_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GREET)
    path.chmod(0o600)
    with pytest.raises(UsageError, match=r"can be read by its owner alone: `chmod a\+r"):
        load_tools([path])


def test_it_is_called_by_its_file(fieldmark: Fieldmark, tmp_path: Path) -> None:
    write(tmp_path, GREET)

    def row(arguments: dict[str, Any]) -> Any:
        return json.loads(fieldmark("tool", "./t.py", "--json", json.dumps(arguments)).stdout)

    assert row({"name": "Ada"})["data"] == {"found": True, "text": "hello Ada"}
    assert row({"nam": "Ada"})["error_kind"] == "invalid_args"
