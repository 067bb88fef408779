"""OpenClaw with a lean list of tools: to read, to run programs, to look, and ours."""

from __future__ import annotations

from fieldmark.agents.base import Agent
from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.agents.external.openclaw import LEAN, OpenClaw

AGENT: Agent = ExternalAgent(OpenClaw("openclaw", LEAN))
