"""Finding agents by name without importing what is not wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fieldmark.agents.registry import agent_names, get_agent
from fieldmark.errors import UsageError


def modules_after(code: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(shown.stdout.split())


def test_every_agent_is_found_under_its_own_name() -> None:
    assert {"closed_book", "react", "opencode"} <= set(agent_names())
    assert tuple(get_agent(name).name for name in agent_names()) == agent_names()
    without_tools = [name for name in agent_names() if not get_agent(name).uses_tools]
    assert without_tools == ["amigo_player", "closed_book", "closed_book_google", "closed_book_search"]


def test_an_unknown_name_lists_the_known_ones() -> None:
    told = r"unknown agent 'sleuth': the agents are amigo_player, closed_book, .*react"
    with pytest.raises(UsageError, match=told):
        get_agent("sleuth")


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("from fieldmark.agents.registry import agent_names; agent_names()", {"langgraph", "asyncio"}),
        ("import fieldmark.sandbox.gateway.scout.policy", {"langgraph", "pydantic"}),
        ("import fieldmark.agents.closed_book", {"langgraph", "openai", "cv2", "numpy"}),
        ("import fieldmark.agents.react, fieldmark.agents.forager", {"langchain_core", "openai", "cv2"}),
        ("import fieldmark.agents.turns as turns; turns.warm()", {"langchain_openai", "langgraph.prebuilt"}),
    ],
)
def test_imports_stay_lean(code: str, absent: set[str]) -> None:
    assert not modules_after(code) & absent
