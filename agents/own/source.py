"""What the source of an agent of the user's own says, read without running a line of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.needs import Needs

ENTRIES = ("solve", "graph")
"""What makes a file an agent; the first that it defines is used."""
_LIMITS = tuple(name for name in Needs._fields if name != "kit")


@dataclass(frozen=True)
class Source:
    """`entry` is what it defines; `imports` are the modules that its first level imports."""

    entry: str
    uses_tools: bool
    needs: Needs
    imports: tuple[str, ...]


def read_source(path: Path) -> Source:
    """UsageError, with file and line, for a file that is no Python or makes no agent."""
    nodes = list(_first_level(_parsed(path).body))
    defined: dict[str, Any] = {name: node for node in nodes for name in _names(node)}
    entry = next((name for name in ENTRIES if name in defined), None)
    if entry is None:
        raise UsageError(
            f"--agent {path} makes no agent: define solve(prompt, tools), or a LangGraph `graph`; "
            "`fieldmark new agent` writes one that works"
        )
    if entry == "solve" and not _takes_two(defined[entry]):
        raise UsageError(f"--agent {path}:{defined[entry].lineno}: write it as solve(prompt, tools)")
    uses_tools = _constant(path, defined, "USES_TOOLS", True)
    if not isinstance(uses_tools, bool):
        raise UsageError(f"--agent {path}: USES_TOOLS is neither True nor False")
    return Source(entry, uses_tools, _needs(path, defined), tuple(_imports(nodes)))


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        where = f":{error.lineno}" if error.lineno else ""
        raise UsageError(f"--agent {path}{where}: not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"--agent {path}: not Python: {error or type(error).__name__}") from None
    except OSError as error:
        raise UsageError(f"--agent {path} cannot be read: {error.strerror}") from None


def _first_level(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements outside functions and classes."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            yield from _first_level(ast.iter_child_nodes(node))


def _names(node: ast.AST) -> list[str]:
    """The names that a statement gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [target.id for target in targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return []


def _takes_two(node: ast.AST) -> bool:
    """Whether a function can be called with two arguments; what is no function here, may be one elsewhere."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    given = node.args
    most = len(given.posonlyargs) + len(given.args)
    named_only = len(given.kwonlyargs) - sum(default is not None for default in given.kw_defaults)
    return (most >= 2 or given.vararg is not None) and most - len(given.defaults) <= 2 and not named_only


def _constant(path: Path, defined: dict[str, Any], name: str, default: Any) -> Any:
    node = defined.get(name)
    if node is None:
        return default
    value = getattr(node, "value", None)
    try:
        return ast.literal_eval(value) if value else default
    except ValueError:
        raise UsageError(
            f"--agent {path}:{node.lineno}: {name} is read before anything runs: write it as a plain value"
        ) from None


def _needs(path: Path, defined: dict[str, Any]) -> Needs:
    given = _constant(path, defined, "NEEDS", {})
    known = isinstance(given, dict) and given.keys() <= set(_LIMITS)
    if not known or not all(type(value) in (int, float) and value > 0 for value in given.values()):
        names = ", ".join(_LIMITS)
        raise UsageError(
            f"--agent {path}:{defined['NEEDS'].lineno}: NEEDS takes numbers above 0 for {names}: "
            'write NEEDS = {"memory_mb": 2048}'
        )
    whole: dict[str, Any] = {
        name: value if name == "processors" else int(value) for name, value in given.items()
    }
    return Needs(**whole)


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
