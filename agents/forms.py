"""Forms of a reply: how an agent that answers by text is asked to, and what reads its answer.

Our graphs answer by their tool `answer`, whatever the form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from fieldmark.agents.five_keys import parse_five_keys
from fieldmark.agents.parsing import Parsed, Read, parse_answer
from fieldmark.tools.model_text import without_thinking

if TYPE_CHECKING:
    from fieldmark.task import ReplyForm

_TAGS = re.compile(r"<answer>(.*)</answer>", re.DOTALL)


class Form(NamedTuple):
    """Names of prompts: that of closed book, and the ending of what agents of others are asked."""

    closed_book: str
    external: str
    read: Read


def read_tags(raw: str, *, truncated: bool = False) -> Parsed:
    """What stands from the first `<answer>` to the last `</answer>`, as the released code of arXiv 2602.07605
    takes it; without tags, or with nothing there, all that is not thinking: whether that counts is for each
    way of scoring to say, so it is an answer also where the reply was cut.
    """
    match = _TAGS.search(raw)
    if match and match[1].strip():
        return Parsed(match[1].strip(), parsed_by="tag")
    rest = without_thinking(raw) or raw.strip()
    return Parsed(rest, parsed_by="text" if rest else "empty")


FORMS: dict[ReplyForm, Form] = {
    "json": Form("closed_book", "external_json", parse_answer),
    "plain": Form("closed_book", "external_plain", parse_answer),
    "pix2fact": Form("closed_book_pix2fact", "external_pix2fact", parse_five_keys),
    "tags": Form("closed_book_tags", "external_json", read_tags),  # asked of closed book only
}
