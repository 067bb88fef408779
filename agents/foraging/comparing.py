"""Which found picture to hold beside the task's, and which pictures of evidence to look at again."""

from __future__ import annotations

import json
import re

from fieldmark.agents.foraging.ledger import Evidence, Hit, Hypothesis, Ledger
from fieldmark.trace import CallRequest

TOOL = "compare_images"
MOST_PICTURES = 3
"""Pictures of evidence in one question; with the task's own that makes four."""


def comparison(ledger: Ledger, candidate: Hypothesis) -> CallRequest | None:
    """The comparison that is still to be made for a candidate: of the task's picture with a found one.

    None when the candidate cites a comparison, or no found picture is known to show it. Its empty id says
    that no model asked for it.
    """
    cited = ledger.cited(candidate.cites)
    if any(each.tool == TOOL for each in cited):
        return None
    hit = _likeliest(ledger, candidate, cited)
    done = " ".join(each.arguments for each in ledger.evidence if each.tool == TOOL)
    if hit is None or re.search(rf"{re.escape(hit.image)}(?!\w)", done):
        return None
    return CallRequest(id="", name=TOOL, arguments=json.dumps({"other": hit.image}, ensure_ascii=False))


def to_look_at(ledger: Ledger, candidate: Hypothesis) -> list[Evidence]:
    """The evidence whose pictures speak for or against a candidate: comparisons, then what it cites."""
    seen = [each for each in ledger.evidence if each.pictures]
    compared = [each for each in seen if each.tool == TOOL]
    cited = [each for each in seen if each.id in candidate.cites and each.tool != TOOL]
    chosen = [*compared[-2:], *cited[-MOST_PICTURES:]]
    return chosen[:MOST_PICTURES]


def _likeliest(ledger: Ledger, candidate: Hypothesis, cited: tuple[Evidence, ...]) -> Hit | None:
    """The hit whose title shares most words with the candidate's name, else the best that is cited.

    The task's own picture found again shows nothing new.
    """
    hits = [hit for each in ledger.evidence for hit in each.hits if not hit.same_picture]
    named = [hit for hit in hits if _shared(hit, candidate)]
    if named:
        return max(named, key=lambda hit: (_shared(hit, candidate), hit.score))
    of_cited = [hit for each in cited for hit in each.hits if not hit.same_picture]
    return max(of_cited, key=lambda hit: hit.score, default=None)


def _shared(hit: Hit, candidate: Hypothesis) -> int:
    return len(_words(hit.title) & _words(candidate.name))


def _words(text: str) -> set[str]:
    """Words that can be part of a name: short ones only with a figure in them."""
    found = re.findall(r"\w+", text.casefold())
    return {word for word in found if len(word) > 3 or any(map(str.isdigit, word))}
