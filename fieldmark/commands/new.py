"""`fieldmark new`: a working agent, tool, skill or benchmark to begin with."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import click

from fieldmark.errors import UsageError

_PYTHON = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PLAIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@click.group("new")
def command() -> None:
    """Write a small agent, tool, skill or benchmark that works, here, and say how to run it.

    Nothing is ever overwritten, and nothing needs to be registered or built: a run is given the path.

    \b
    fieldmark new agent
    fieldmark new tool sharpness
    """


@command.command("agent")
@click.argument("name", default="my_agent")
def new_agent(name: str) -> None:
    """Write NAME.py: solve(prompt, tools), a loop of thinking and calling tools.

    \b
    fieldmark new agent detective
    """
    path = _python(name, "my_agent")
    _say(path, f"fieldmark run --agent ./{path} --limit 3")


@command.command("tool")
@click.argument("name", default="my_tool")
def new_tool(name: str) -> None:
    """Write NAME.py: a typed function that names the colours of the picture.

    \b
    fieldmark new tool colours
    """
    from fieldmark.tools.registry import tool_names

    if name in tool_names():
        raise UsageError(f"{name} is a tool of fieldmark: choose another name")
    path = _python(name, "my_tool")
    _say(path, f"fieldmark run --tool ./{path} --limit 3", f"fieldmark tool ./{path} --image PICTURE")


@command.command("skill")
@click.argument("name", default="my-skill")
def new_skill(name: str) -> None:
    """Write the folder NAME with a SKILL.md: how to look at a kind of subject.

    \b
    fieldmark new skill street-signs
    """
    folder = _free(_named(name, _PLAIN, "a-z, 0-9 and single hyphens"))
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        _template("my-skill/SKILL.md").replace("my-skill", name), encoding="utf-8"
    )
    _say(folder, f"fieldmark run --skills all,./{folder} --limit 3", f"fieldmark skills check ./{folder}")


@command.command("benchmark")
@click.argument("name", default="my_benchmark")
def new_benchmark(name: str) -> None:
    """Write the folder NAME with a tasks.jsonl of one task and its drawn picture.

    \b
    fieldmark new benchmark harbour
    """
    from fieldmark.templates.drawing import draw_benchmark

    folder = _free(_named(name, _PYTHON, "a-z, 0-9 and _, a letter first"))
    draw_benchmark(folder)
    _say(folder, f"fieldmark run --benchmark ./{folder}/tasks.jsonl")


def _python(name: str, template: str) -> Path:
    name = _named(name.removesuffix(".py"), _PYTHON, "a-z, 0-9 and _, a letter first")
    path = _free(f"{name}.py")
    path.write_text(_template(f"{template}.py").replace(template, name), encoding="utf-8")
    path.chmod(0o644)  # a container reads it as another user, whatever the umask
    return path


def _named(name: str, form: re.Pattern[str], letters: str) -> str:
    if not form.fullmatch(name):
        raise UsageError(f"name {name!r}: use {letters}")
    return name


def _free(name: str) -> Path:
    path = Path(name)
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already and is left as it is: choose another name")
    return path


def _template(name: str) -> str:
    return (files("fieldmark.templates") / name).read_text(encoding="utf-8")


def _say(path: Path, *commands: str) -> None:
    click.echo(f"wrote {path}; try it:")
    for line in commands:
        click.echo(f"  {line}")
