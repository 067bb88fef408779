"""Rules that hold an answer, and what the agent came upon, against the reference."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.failures.calls import LOOK_UPS
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.hierarchy import VERDICT, Hierarchy, Relation, relation, shares_words
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.task import Gold


def first(
    case: Case, facts: TraceFacts, gold: Gold, found: GoldFacts, hierarchies: Sequence[Hierarchy]
) -> Decision | Open:
    """The first rule that applies."""
    kin = None if gold.match == "exact_text" else relation(case.answer, gold, hierarchies)
    return (
        _related(case, gold, kin)
        or _misjudged(case, found)
        or _not_seen(case, facts, gold, found)
        or _not_found(case, found, kin)
    )


def _related(case: Case, gold: Gold, kin: Relation | None) -> Decision | Open | None:
    """The sharpest thing that can be said of an answer. Before `misjudged`: an ancestor is no other entity,
    and a page on one kind names its siblings too, so that the reference is seen beside most of them.
    """
    if gold.match == "exact_text":
        return None
    if case.outcome == "partially_correct":
        why = "the judge: a part of the reference"
        return Decision("too_broad", why, events=case.answered, source=VERDICT)
    if kin is None or kin.kind == "stranger":
        return Open("may_be_related") if shares_words(case.answer, gold, case.question) else None
    if kin.kind == "unrelated":
        return None
    what = "broader than" if kin.kind == "ancestor" else "a sibling of"
    return Decision(
        "too_broad" if kin.kind == "ancestor" else "neighbour_confusion",
        f"{case.answer!r} is {what} {gold.answer!r} by {kin.source}",
        events=case.answered,
        source=kin.source,
    )


def _misjudged(case: Case, found: GoldFacts) -> Decision | None:
    """Before grounding: where the name was found, the picture was seen well enough to find it."""
    seen = found.seen_event if found.seen else found.confirmed_event
    if seen is None:
        return None
    return Decision(
        "wrong_entity_retrieval",
        "a result named the reference, the answer is another",
        sub="misjudged",
        events=case.answered,
        gold_events=(seen,),
    )


def _not_seen(case: Case, facts: TraceFacts, gold: Gold, found: GoldFacts) -> Decision | None:
    """What was not seen cannot be searched for: before `not_retrieved`."""
    why = None
    if found.region is False:
        why = "it never looked at the place of the picture that shows it"
    elif gold.match == "exact_text":
        why = "the text asked for stands in the picture, and no result held it"
    elif facts.picture_lost and not facts.looked:
        why = "the picture was lost from the conversation, and it did not look again"
    return Decision("visual_grounding", why, events=case.answered) if why else None


def _not_found(case: Case, found: GoldFacts, kin: Relation | None) -> Decision | Open:
    """Sure only where it looked something up, had the picture to go by, and a hierarchy that knows the
    reference knows the answer for no sibling and no ancestor of it.
    """
    if not case.searched:
        return Open("looked_only")
    if found.seen is None:
        return Open("seen_unknown")
    if case.had_picture is None:
        return Open("picture_unknown")
    if kin is None:
        return Open("no_hierarchy")
    return Decision(
        "wrong_entity_retrieval",
        "no result before the answer named the reference",
        sub="not_retrieved",
        events=tuple(call.seq for call in case.calls if call.ok and call.action in LOOK_UPS),
    )
