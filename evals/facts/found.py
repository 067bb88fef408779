"""The facts of one finished episode, from its record, its events and, for some, gold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fieldmark.evals.facts.dropped import first_dropped
from fieldmark.evals.facts.looking import looking
from fieldmark.evals.facts.names import Names, names_of
from fieldmark.evals.facts.reached import Reached, evidence_of, reached
from fieldmark.evals.facts.region import looked_at
from fieldmark.evals.facts.results import Result, answered_at, results_before_answer
from fieldmark.evals.facts.seen import first_confirmed, first_seen
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.task import Gold
from fieldmark.trace import Event


def facts_of(record: EpisodeRecord, events: Iterable[Event], question: str = "") -> TraceFacts:
    """What the trace alone says. An answer that the question says already stands nowhere."""
    return both_of(record, events, None, question)[0]


def gold_facts_of(
    record: EpisodeRecord,
    events: Iterable[Event],
    gold: Gold,
    question: str = "",
    verdict: Verdict | None = None,
) -> GoldFacts:
    """What only gold can say: private. Without a verdict all but what rests on one (`judged`)."""
    trace, facts = both_of(record, events, gold, question)
    return judged(facts or GoldFacts(id=record.id), trace, verdict)


def both_of(
    record: EpisodeRecord, events: Iterable[Event], gold: Gold | None, question: str = ""
) -> tuple[TraceFacts, GoldFacts | None]:
    """Both at once, the results read once; None without gold."""
    events = list(events)
    results = results_before_answer(events)
    facts = _trace_facts(record, events, results, question)
    return facts, _gold_facts(record, events, results, gold, question) if gold else None


def _trace_facts(
    record: EpisodeRecord, events: Sequence[Event], results: list[Result], question: str
) -> TraceFacts:
    names = Names([record.answer or ""], question)
    first = first_seen(results, names) if names else None
    return looking(record, events).model_copy(update={"answer_event": first.seq if first else None})


def _gold_facts(
    record: EpisodeRecord, events: Sequence[Event], results: list[Result], gold: Gold, question: str
) -> GoldFacts:
    names, page = names_of(gold, question), _reached(gold, events, results)
    seen, confirmed = first_seen(results, names), first_confirmed(results, names)
    place = looked_at(gold.regions, events, results) if gold.regions else None
    dropped = first_dropped(events, record.answer, names)
    return GoldFacts(
        id=record.id,
        epoch=record.epoch,
        reached=None if page is None else page.page is not None,
        reached_event=page.page if page else None,
        reached_domain=None if page is None else page.domain is not None,
        seen=seen is not None if names else None,
        seen_event=seen.seq if seen else None,
        seen_action=seen.call.action if seen else None,
        confirmed_event=confirmed.seq if confirmed else None,
        region=place.at is not None if place else None,
        region_event=place.at if place else None,
        region_held=place.held if place else None,
        region_iou=place.iou if place else None,
        dropped=dropped is not None,
        dropped_event=dropped,
    )


def judged(facts: GoldFacts, trace: TraceFacts | None, verdict: Verdict | None) -> GoldFacts:
    """The facts with what rests on the verdict: `supported` of a correct answer, nothing `dropped` by it.

    A correct answer is itself a right name, so it also counts as seen where it stood in a result.
    """
    if verdict is None or verdict.label != "correct":
        return facts.model_copy(update={"supported": None})
    own = trace is not None and trace.answer_event is not None
    supported = True if own else facts.seen
    return facts.model_copy(update={"supported": supported, "dropped": False, "dropped_event": None})


def _reached(gold: Gold, events: Sequence[Event], results: list[Result]) -> Reached | None:
    links = evidence_of(gold.evidence)
    if not links:
        return None
    end = answered_at(events)
    return reached(links, [event for event in events if end is None or event.seq < end], results)
