"""closed_book_google: closed book, with Google's search as its models offer it in Chat Completions.

As `closed_book_search`, for a server whose search is the tool `google_search` (arXiv 2602.00593, appendix C).
"""

from __future__ import annotations

from fieldmark.agents.base import Agent
from fieldmark.agents.closed_book import ClosedBook

AGENT: Agent = ClosedBook("closed_book_google", [{"type": "google_search"}])
