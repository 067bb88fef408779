"""An agent of the user's own: a file or folder, anywhere, with `solve(prompt, tools)` or a LangGraph `graph`.

What such a file may import of us to say what it is given; it need import nothing.
"""

from __future__ import annotations

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.own.asked import Asked, Model
from fieldmark.agents.own.tools import OfferedTool, Result, Tools
from fieldmark.agents.reply import Reply

__all__ = ["AgentAnswer", "Asked", "Model", "OfferedTool", "Reply", "Result", "Tools"]
