"""The words of a task are a stranger's: no agent of others gets them where a program looks for options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.agents.registry import get_agent, recipe_names
from tests.agents.test_recipe import setting

WORDS = "--yolo --config=/etc/passwd"


@pytest.mark.parametrize("name", ["opencode", "openclaw", *recipe_names()])
def test_a_question_that_looks_like_options_comes_by_stdin_alone(name: str, tmp_path: Path) -> None:
    agent = get_agent(name)
    assert isinstance(agent, ExternalAgent)
    launch = agent._adapter.prepare(replace(setting(tmp_path), text=WORDS))
    assert not [word for word in launch.argv if "--yolo --config" in word or "passwd" in word]
    assert launch.stdin.startswith(WORDS)
