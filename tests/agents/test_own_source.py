"""The source of an agent of the user's own is read, never run, and every fault is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.agents.own.agent import load
from fieldmark.agents.own.source import read_source
from fieldmark.agents.registry import agent_name, get_agent, is_path
from fieldmark.errors import UsageError
from fieldmark.needs import Needs

SOLVE = "def solve(prompt, tools):\n    return 'cat'\n"


def write(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (SOLVE, "solve"),
        ("async " + SOLVE, "solve"),
        ("from helper import find as solve", "solve"),
        ("try:\n    import torch\nexcept ImportError:\n    " + SOLVE.replace("\n", "\n    "), "solve"),
        ("graph = build()", "graph"),
        ("def graph(model, tools): ...", "graph"),
        ("graph: object = 1\n" + SOLVE, "solve"),
    ],
)
def test_what_makes_an_agent(tmp_path: Path, text: str, entry: str) -> None:
    assert read_source(write(tmp_path, text)).entry == entry


def test_reading_runs_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, f"raise SystemExit('ran')\n{SOLVE}")
    agent = get_agent(str(path))
    assert (agent.name, agent.uses_tools, agent.needs) == ("mine", True, Needs())


def test_what_it_needs_stands_in_plain_values(tmp_path: Path) -> None:
    text = f'NEEDS = {{"memory_mb": 2048, "processors": 1.5}}\nUSES_TOOLS = False\n{SOLVE}'
    source = read_source(write(tmp_path, text))
    assert (source.needs, source.uses_tools) == (Needs(2048, 1.5), False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def solve(:\n", ":1: not Python: "),
        ("x = '\0'", "not Python"),
        ("def resolve(prompt): ...", "makes no agent: define solve(prompt, tools), or a LangGraph `graph`"),
        (f"NEEDS = {{'gpu': 1}}\n{SOLVE}", ":1: NEEDS takes numbers above 0 for memory_mb, processors, pids"),
        (f"NEEDS = 5\n{SOLVE}", ":1: NEEDS takes"),
        (f"NEEDS = {{'pids': 0}}\n{SOLVE}", ":1: NEEDS takes"),
        (f"\nNEEDS = needs()\n{SOLVE}", ":2: NEEDS is read before anything runs"),
        (f"USES_TOOLS = 1\n{SOLVE}", "USES_TOOLS is neither True nor False"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as fault:
        read_source(write(tmp_path, text))
    assert f"mine.py{told}" in str(fault.value) or told in str(fault.value)
    assert str(fault.value).startswith(f"--agent {tmp_path}")


def test_a_folder_is_called_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, SOLVE, "detective/agent.py")
    folder = tmp_path / "detective"
    assert (load(folder).name, agent_name(str(folder))) == ("detective", "detective")
    assert agent_name("../somewhere/my.agent.py") == "my.agent"


def test_a_path_is_told_from_a_name() -> None:
    assert [is_path(name) for name in ("./x", "x.py", "x.toml", "a/b", ".", "react")] == [
        *[True] * 5,
        False,
    ]


@pytest.mark.parametrize("name", ["none.py", "folder", "./notes.txt"])
def test_what_is_no_agent_at_all(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"holds no agent\.py|is not there|ends in \.py or \.toml"):
        get_agent(str(tmp_path / name))
