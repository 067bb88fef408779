"""The ledger in words, for the model, and as data, for the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fieldmark.agents.foraging.ledger import Evidence, Hypothesis, Ledger, RuledOut, Verdict
from fieldmark.agents.foraging.reading import LINE_BYTES
from fieldmark.tools.cutting import cut_to_bytes

MOST_EVIDENCE = 40
"""Pieces of evidence in one prompt or event, the newest."""

_MOST_RULED_OUT, _MOST_PICTURES = 16, 4


def in_words(ledger: Ledger) -> str:
    """What stands, what fell, and what there is to cite; the results themselves are in the conversation."""
    lines = ["Hypotheses so far:", *map(_hypothesis, ledger.hypotheses)] if ledger.hypotheses else []
    if ledger.neighbour:
        lines.append(f"Nearest neighbour: {ledger.neighbour}")
    if ledger.tell_apart:
        lines.append(f"What would tell them apart: {ledger.tell_apart}")
    if ledger.ruled_out:
        lines += [
            "Ruled out:",
            *(
                f"- {each.name}: {each.why or 'no reason given'}"
                for each in ledger.ruled_out[-_MOST_RULED_OUT:]
            ),
        ]
    if ledger.evidence:
        lines += ["Evidence:", *map(_evidence, ledger.evidence[-MOST_EVIDENCE:])]
    return "\n".join(lines)


def as_data(
    ledger: Ledger, new: Sequence[Evidence] = (), verdict: Verdict | None = None, **more: Any
) -> dict[str, Any]:
    """The `data` of a stage's log event (docs/forager.md), below 60 kB whatever the model wrote."""
    data = {
        **more,
        "hypotheses": [_hypothesis_data(each) for each in ledger.hypotheses],
        "neighbour": ledger.neighbour,
        "tell_apart": ledger.tell_apart,
        "ruled_out": [_ruled_out_data(each) for each in ledger.ruled_out[-_MOST_RULED_OUT:]],
        "evidence": [_evidence_data(each) for each in new[-MOST_EVIDENCE:]],
    }
    return data if verdict is None else {**data, "verdict": _verdict_data(verdict)}


def _hypothesis(each: Hypothesis) -> str:
    sure = "no confidence given" if each.confidence is None else f"confidence {each.confidence:.2f}"
    level = f", {each.level}" if each.level else ""
    on = f"cites {', '.join(each.cites)}" if each.cites else "UNSUPPORTED: cites no evidence"
    return f"- {each.name} ({sure}{level}; {on})"


def _evidence(each: Evidence) -> str:
    shown = f": {each.measured}" if each.measured else ""
    return f"- {each.id} {each.tool} {cut_to_bytes(each.arguments, LINE_BYTES)}{shown}"


def _hypothesis_data(each: Hypothesis) -> dict[str, Any]:
    return {
        "name": each.name,
        "level": each.level,
        "confidence": each.confidence,
        "for": list(each.pro),
        "against": list(each.con),
        "cites": list(each.cites),
        "supported": bool(each.cites),
    }


def _ruled_out_data(each: RuledOut) -> dict[str, Any]:
    return {"name": each.name, "why": each.why, "cites": list(each.cites)}


def _evidence_data(each: Evidence) -> dict[str, Any]:
    return {
        "id": each.id,
        "tool": each.tool,
        "arguments": cut_to_bytes(each.arguments, LINE_BYTES),
        "seq": each.seq,
        "pictures": [picture.blob for picture in each.pictures[:_MOST_PICTURES]],
    }


def _verdict_data(each: Verdict) -> dict[str, Any]:
    return {
        "candidate": each.candidate,
        "ruling": each.ruling,
        "why": each.why,
        "cites": list(each.cites),
        "mark": each.mark,
        "missing": each.missing,
        "broader": each.broader,
        "confidence": each.confidence,
    }
