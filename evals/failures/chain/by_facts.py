"""What facts of the trace say of the first broken link, in the order of the chain.

A word is *sure* where the facts leave no other stage, and else presumed: that a region was looked at does not
say that it was read rightly. A model, where there is one, is asked of what is presumed and of what is open.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.evals.failures import rules_of_answers
from fieldmark.evals.failures.case import Case
from fieldmark.findings import ChainKind, GoldFacts, Link, TraceFacts


@dataclass(frozen=True)
class Broken:
    """`link` None: nothing of the chain broke, as where no answer was given. `reason` and `events` (`seq`s)
    are private: gold was needed for them.
    """

    link: Link | None
    reason: str
    kind: ChainKind | None = None
    sure: bool = True
    events: tuple[int, ...] = ()


def broken(case: Case) -> Broken | None:
    """None: facts say nothing, or are not here."""
    if not case.answer:
        return Broken(None, "it ended without an answer", events=case.end)
    if rules_of_answers.doubt(case):
        return Broken(None, "verdict or reference is in doubt")
    if case.facts is None or case.gold_facts is None:
        return None
    if case.had_picture is False:
        return Broken("grounding", "the picture never came to it", "missed_target")
    return _found(case.gold_facts) or _unseen(case.facts, case.gold_facts) or _presumed(case, case.gold_facts)


def _found(found: GoldFacts) -> Broken | None:
    """Where the reference, or a page known to hold it, came back, what was looked up was right, and so was
    what was seen. An answer that it had itself named was drawn out of the page, and dropped later.
    """
    seen = found.seen_event if found.seen else found.confirmed_event
    if seen is not None and found.dropped and found.dropped_event is not None:
        events = (seen, found.dropped_event)
        return Broken("reasoning", "it found and named the reference, and answered another", events=events)
    if seen is not None:
        why = "a result named the reference, and it took something else"
        return Broken("retrieval", why, "extraction_error", events=(seen,))
    if found.reached and found.reached_event is not None:
        why = "a page that is known to hold the reference came back, and it did not get it out"
        return Broken("retrieval", why, events=(found.reached_event,))
    return None


def _unseen(facts: TraceFacts, found: GoldFacts) -> Broken | None:
    if found.region is False:
        return Broken("grounding", "it never looked at the place that shows it", "missed_target")
    if facts.picture_lost and not facts.looked:
        return Broken("grounding", "the picture was lost, and it did not look again", "missed_target")
    return None


def _presumed(case: Case, found: GoldFacts) -> Broken | None:
    """It looked at the right place, so that it may have read it rightly."""
    if not found.region or found.seen is not False:
        return None
    events = (found.region_event,) if found.region_event is not None else ()
    if case.searched:
        why = "it looked at the right place, and no result named the reference"
        return Broken("retrieval", why, sure=False, events=events)
    why = "it looked at the right place, and looked nothing up"
    return Broken("reasoning", why, "retrieval_planning", sure=False, events=events)
