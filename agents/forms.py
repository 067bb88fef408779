"""The forms of an answer in closed book: what the model is told of it, and how its reply is read."""

from __future__ import annotations

import re
from collections.abc import Callable

from fieldmark.agents.parsing import Parsed, parse_answer
from fieldmark.agents.reply import Reply
from fieldmark.task import ReplyForm
from fieldmark.tools.model_text import without_thinking

Read = Callable[[Reply], Parsed]
_TAGS = re.compile(r"<answer>(.*)</answer>", re.DOTALL)


def read_any(reply: Reply) -> Parsed:
    """By the one parser of all agents."""
    return parse_answer(reply.text, truncated=reply.truncated)


def read_tags(reply: Reply) -> Parsed:
    """What stands from the first `<answer>` to the last `</answer>`, as the released code of arXiv 2602.07605
    takes it; without tags, or with nothing there, all that is not thinking: whether that counts is for each
    way of scoring to say, so it is an answer also where the reply was cut.
    """
    match = _TAGS.search(reply.text)
    if match and match[1].strip():
        return Parsed(match[1].strip(), parsed_by="tag")
    rest = without_thinking(reply.text) or reply.text.strip()
    return Parsed(rest, parsed_by="text" if rest else "empty")


FORMS: dict[ReplyForm, tuple[str, Read]] = {
    "json": ("closed_book", read_any),
    "plain": ("closed_book", read_any),
    "tags": ("closed_book_tags", read_tags),
}
"""Form → the prompt in `agents/prompts/`, the reader."""
