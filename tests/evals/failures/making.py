"""Constructed cases, for the tests of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fieldmark.evals.failures.case import Case, Word, WrongOutcome
from fieldmark.evals.failures.hierarchy import Kind, Words
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, Status
from fieldmark.task import Gold
from fieldmark.trace import Event, parse_event

MANDRILL = Gold(answer="mandrill", aliases=["Mandrillus sphinx"], broader=["monkey"])
AIRLINER = Gold(answer="Boeing 737 MAX 8", aliases=["737-8"], broader=["airliner"])
PLATE = Gold(answer="N340SA", match="exact_text")


class Apes:
    """A hierarchy that knows `MANDRILL` and the drill beside it."""

    name = "apes"

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        if ("mandrill",) not in names:
            return None
        return "sibling" if answer == ("drill",) else "stranger"


APES = (Apes(),)
ACTIONS = {"ocr": "ocr", "crop": "crop_zoom", "lens": "reverse_image_search", "web": "web_search"}


def case(
    answer: str | None = "Saab 340",
    calls: Sequence[tuple[str, bool]] = (("ocr", True), ("web", True)),
    *,
    status: Status = "answered",
    outcome: WrongOutcome = "incorrect",
    gold: Gold | None = MANDRILL,
    audit: Word | None = None,
    question: str = "Which animal is this?",
    facts: dict[str, Any] | None = None,
    found: dict[str, Any] | None = None,
    error: dict[str, str] | None = None,
) -> Case:
    """A wrong answer after `calls`, (name, ok) each; `facts` and `found` go over those of such a trace."""
    searched = any(ok and name in ("lens", "web") for name, ok in calls)
    looked = any(ok and name in ("ocr", "crop") for name, ok in calls)
    known: dict[str, Any] = {
        "acts": len(calls), "failed_acts": sum(not ok for _, ok in calls), "looked": looked,
        "searched": searched, "picture": "exact",
    }  # fmt: skip
    record: dict[str, Any] = {
        "id": "t", "status": status, "agent": "a", "model": "m", "answer": answer, "seconds": 1,
        "charged_seconds": 1, "started": "2026-11-30T10:00:00Z", "trace": "t.jsonl", "error": error,
    }  # fmt: skip
    return Case(
        question=question,
        outcome=outcome if answer and status == "answered" else "no_answer",
        record=EpisodeRecord.model_validate(record),
        verdict=None,
        gold=gold,
        events=events_of(calls, answer),
        facts=TraceFacts.model_validate({"id": "t", **known, **(facts or {})}),
        gold_facts=GoldFacts.model_validate({"id": "t", "seen": False, **(found or {})}) if gold else None,
        audit=audit,
    )


def events_of(calls: Sequence[tuple[str, bool]], answer: str | None) -> list[Event]:
    """A call and its result, one after the other: results stand at 1, 3, 5, … and the answer after them."""
    rows: list[dict[str, Any]] = []
    for name, ok in calls:
        action = ACTIONS.get(name, "other")
        rows.append({"kind": "tool_call", "call": name, "name": name, "door": "graph", "action": action})
        rows.append({"kind": "tool_result", "call": name, "ok": ok, "seconds": 0.1})
    rows += [{"kind": "answer", "text": answer}] if answer else []
    rows.append(
        {"kind": "episode_end", "status": "answered", "seconds": 1, "charged_seconds": 1, "counts": {}}
    )
    return [parse_event({"seq": seq, "t": seq, "by": "sandbox", **row}) for seq, row in enumerate(rows)]
