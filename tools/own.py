"""A tool of the user's own: a Python file, anywhere, that defines `TOOL`, or one function marked `@tool`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import create_model

from fieldmark.errors import UsageError
from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.user_file import run_file, run_or_refuse

FOLDER = Path("/opt/own-tools")
"""Where a container finds them, each as `<name of the tool>.py`."""
MARKER = "TOOL"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def tool(function: Callable[..., Any]) -> Tool:
    """Make a function a tool: its name, its docstring as the description, its typed parameters as arguments.

    A parameter called `context` is given the Context (`fieldmark.tools.context`) and is no argument. It
    returns a text, an object of data or a ToolResult. TypeError where a type or the docstring is missing.
    """
    description = " ".join((inspect.getdoc(function) or "").split())
    name = function.__name__
    if not description:
        raise TypeError(f"{name} has no docstring: it tells a model what the tool does")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        if parameter.name == "context":
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{name}: {parameter} cannot be an argument: name each one")
        if parameter.name not in hints:
            raise TypeError(f"{name}: {parameter.name} has no type: write {parameter.name}: str")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    args = create_model(f"{name}_args", __base__=Args, **fields)
    return Tool(name, description, args, "other", _Function(function, "context" in parameters))


@dataclass(frozen=True)
class _Function:
    """A function as the `run` of a tool."""

    function: Callable[..., Any]
    takes_context: bool

    def __call__(self, args: Args, context: Context) -> ToolResult:
        given = {name: getattr(args, name) for name in type(args).model_fields}
        return _result(self.function(**given, **({"context": context} if self.takes_context else {})))


def uses_context(tool: Tool) -> bool:
    """Whether a tool of the user's own may look at the picture."""
    return not isinstance(tool.run, _Function) or tool.run.takes_context


def load(path: Path) -> Tool:
    """Run the file on the host. UsageError when it fails, or makes no tool that can be offered."""
    module = run_or_refuse("--tool", path, f"own_tool_{path.stem}")
    found = _in_module(vars(module))
    if not isinstance(found, Tool):
        raise UsageError(
            f"--tool {path} defines no {MARKER}: mark one function with @tool (fieldmark.tools.own); "
            "`fieldmark new tool` writes a file that works"
        )
    if not _NAME.fullmatch(found.name):
        raise UsageError(f"--tool {path}: name {found.name!r}: use a-z, 0-9 and _, a letter first")
    return found


def load_inside(name: str, folder: Path = FOLDER) -> Tool | None:
    """The run's own tool of that name, inside a container. UsageError when it works on the host alone."""
    path = folder / f"{name}.py"
    if not _NAME.fullmatch(name) or not path.is_file():
        return None
    try:
        found = _in_module(vars(run_file(path, f"own_tool_{name}")))
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"the tool {name} cannot be loaded in its container: {why}") from error
    return found if isinstance(found, Tool) else None


def _in_module(names: dict[str, Any]) -> Any:
    """`TOOL`, or the one tool there is."""
    tools = [value for value in names.values() if isinstance(value, Tool)]
    return names.get(MARKER) or (tools[0] if len(tools) == 1 else None)


def _result(said: Any) -> ToolResult:
    if isinstance(said, ToolResult):
        return said
    if isinstance(said, str):
        return ToolResult(said)
    try:
        return ToolResult("Result:", json.loads(json.dumps(said, allow_nan=False)))
    except (TypeError, ValueError):
        raise TypeError(
            f"it returned {type(said).__name__}: return a text, an object or a ToolResult"
        ) from None
