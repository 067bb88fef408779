"""A model is asked until its reply is of use, and not for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fieldmark.evals.asking.reply import NoUse, ask_until_used
from fieldmark.evals.asking.request import Ask, Message, asked_again
from fieldmark.evals.judges.base import Unjudged
from fieldmark.model_config import AskedConfig

ASKS = 3
"""Replies in all."""
Said = TypeVar("Said")


def insist(
    ask: Ask,
    settings: AskedConfig,
    asked: list[Message],
    keys: str,
    read: Callable[[str], Said],
    lacking: str,
) -> Said:
    """What `read` makes of a reply to `asked`. One that it refuses (NotUsed) is asked again, with the `keys`
    that it must have. Unjudged after ASKS replies: `lacking` says whose they were and what is not in them.
    """
    temperature, seed = settings.sampling

    def once(wrong: str) -> str:
        text, _ = ask(asked_again(asked, wrong, keys) if wrong else asked, temperature, seed)
        return text

    try:
        return ask_until_used(once, read, ASKS)
    except NoUse as left:
        raise Unjudged(f"{ASKS} replies {lacking}; of the last: {left}", left.reply) from None
