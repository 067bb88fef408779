"""OpenClaw with the tools it comes with, most of them behind its `tool_search`."""

from __future__ import annotations

from fieldmark.agents.base import Agent
from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.agents.external.openclaw import OpenClaw

AGENT: Agent = ExternalAgent(OpenClaw("openclaw_stock"))
