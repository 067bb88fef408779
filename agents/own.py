"""An agent of the user's own: a Python file, anywhere, that defines `AGENT`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import cast

from fieldmark.agents.base import Agent
from fieldmark.errors import UsageError


def load(path: Path) -> Agent:
    """Run the file. UsageError when it cannot be read, or defines no agent."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"--agent {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "AGENT"):
        raise UsageError(f"--agent {path} defines no AGENT: see agents/base.py")
    return cast(Agent, module.AGENT)
