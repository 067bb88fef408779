"""Forms of a reply: how an agent that answers by text is asked to, and what reads its answer.

Our graphs answer by their tool `answer`, whatever the form.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.agents.five_keys import parse_five_keys
from fieldmark.agents.parsing import Read, parse_answer
from fieldmark.task import ReplyForm


@dataclass(frozen=True)
class Form:
    """Names of prompts: that of closed book, and the ending of what agents of others are asked."""

    closed_book: str
    external: str
    read: Read


FORMS: dict[ReplyForm, Form] = {
    "json": Form("closed_book", "external_json", parse_answer),
    "plain": Form("closed_book", "external_plain", parse_answer),
    "pix2fact": Form("closed_book_pix2fact", "external_pix2fact", parse_five_keys),
}
