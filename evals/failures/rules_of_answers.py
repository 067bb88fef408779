"""Rules on what was said: is the verdict in doubt, and is the answer an answer at all."""

from __future__ import annotations

from fieldmark.evals.failures.case import Case, Decision
from fieldmark.evals.failures.form import fault_of
from fieldmark.evals.failures.hierarchy import plain
from fieldmark.task import Gold


def doubt(case: Case) -> Decision | None:
    """Before all that takes the verdict for granted. A person's `right` or `wrong` goes over the judge."""
    if case.audit == "wrong":
        return None
    why = None
    if case.audit == "right":
        why = "a person held the answer for right"
    elif case.outcome == "uncertain":
        why = "the judge was uncertain"
    elif case.gold and _is_a_name(case.answer, case.gold):
        why = "the judge refused an answer that is a name of the reference"
    return Decision("judge_or_label_doubt", why, events=case.answered) if why else None


def form(case: Case) -> Decision | None:
    """Before all that takes the answer for a name. In a partially correct one the judge has read a name."""
    gold = case.gold
    if case.outcome == "partially_correct":
        return None
    names = [gold.answer, *gold.aliases, *gold.finer, *gold.broader] if gold else []
    fault = fault_of(case.answer, names)
    return (
        Decision("format_or_instruction", f"the answer is {fault}", events=case.answered) if fault else None
    )


def _is_a_name(answer: str, gold: Gold) -> bool:
    names = {plain(name) for name in (gold.answer, *gold.aliases, *gold.finer)}
    return gold.match == "entity" and plain(answer) in names - {()}
