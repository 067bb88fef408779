"""Agents of others, really installed: `make test-agents` runs these, `make test` leaves them out.

A file of this folder that is named to pytest runs in any case.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from fieldmark.agents.registry import get_agent

AgentImage = Callable[[str], str]

collect_ignore_glob = [] if os.environ.get("FIELDMARK_TEST_AGENTS") == "1" else ["test_*.py"]


@pytest.fixture(scope="session")
def agent_image(engine: Any) -> AgentImage:
    """`agent_image("opencode")`: its current image, built when it is not there."""
    from fieldmark.sandbox import image
    from fieldmark.sandbox.build_context import Variant

    return lambda name: image.build(engine, print, Variant(kit=get_agent(name).needs.kit))
