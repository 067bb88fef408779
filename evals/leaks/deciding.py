"""Whether a copy gave the answer away: only gold can say so, and that only on the host, afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from fieldmark.evals.judges.normalise import fold_case, words
from fieldmark.evals.leaks.copies import Copy
from fieldmark.task import Gold

IsSource = Callable[[str], bool]
"""Whether a URL is a record or mirror of a dataset that the pictures come from."""


@dataclass(frozen=True)
class Giveaway:
    """Where gold stood beside a copy: private, for `name` is gold."""

    copy: Copy
    where: str
    name: str | None = None

    @property
    def reason(self) -> str:
        if self.name is None:
            return f"{self.copy.url} is a record of a source dataset"
        return f"{self.name!r} stands in the {self.where} of {self.copy.url or 'a search result'}"


def giveaway(copies: Iterable[Copy], gold: Gold, is_source: IsSource) -> Giveaway | None:
    """The first copy that gave the answer away; None when none did."""
    return next((found for copy in copies if (found := _of_copy(copy, gold, is_source))), None)


def _of_copy(copy: Copy, gold: Gold, is_source: IsSource) -> Giveaway | None:
    if copy.url and is_source(copy.url):
        return Giveaway(copy, "host")
    texts = {"title": copy.title, "address": unquote(copy.url), "text": copy.page_text}
    for where, text in texts.items():
        name = next((name for name in (gold.answer, *gold.aliases, *gold.finer) if holds(text, name)), None)
        if name is not None:
            return Giveaway(copy, where, name)
    return None


def holds(text: str, name: str) -> bool:
    """Whether the words of a name stand in a text, one after the other; a name of signs alone as it is."""
    wanted, given = words(name), words(text)
    if not wanted:
        return bool(fold_case(name)) and fold_case(name) in fold_case(text)
    length = len(wanted)
    return any(given[at : at + length] == wanted for at in range(len(given) - length + 1))
