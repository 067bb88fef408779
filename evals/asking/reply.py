"""A reply: the JSON objects of it that count. Prose never does.

Thinking is left out, fences and words around an object do no harm. An object that stands word for word in
what the model was given is a quotation, or an agent that plays the model, and no reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fieldmark.tools.model_text import FoundObject, objects_in, without_thinking

Said = TypeVar("Said")


class NotUsed(ValueError):
    """A reply that says nothing that counts; the message tells the model what is wrong with it."""


def objects_with(text: str, key: str, quoted: Sequence[str] = ()) -> list[FoundObject]:
    """The objects that have `key`, at least one. `quoted`: the texts of others that the model was given.

    NotUsed when there is none, or when one of them stands in `quoted`.
    """
    found = [each for each in objects_in(without_thinking(text)) if key in each.value]
    if not found:
        raise NotUsed(f"it holds no JSON object with a {key}")
    claimed = [each.value for source in quoted for each in objects_in(source)]
    if any(each.value in claimed for each in found):
        raise NotUsed(f"it repeats a {key} that stands in the answer")
    return found


class NoUse(Exception):
    """No reply was of use, however often it was asked; `reply` is the last."""

    def __init__(self, why: str, reply: str) -> None:
        super().__init__(why)
        self.reply = reply


def ask_until_used(ask: Callable[[str], str], read: Callable[[str], Said], asks: int) -> Said:
    """What `read` makes of the first reply that it does not refuse by NotUsed.

    `ask` is called with what was wrong with the reply before, "" at first. NoUse after `asks` replies.
    """
    wrong, reply = "", ""
    for _ in range(asks):
        reply = ask(wrong)
        try:
            return read(reply)
        except NotUsed as error:
            wrong = str(error)
    raise NoUse(wrong, reply)
