"""The second label: which link of grounding → retrieval → reasoning broke first."""

from __future__ import annotations

from fieldmark.evals.failures.case import Case, Decision
from fieldmark.evals.failures.taxonomy import CLASSES
from fieldmark.findings import Link


def first_broken(case: Case, word: Decision) -> Link | None:
    """As far as facts show; else what breaks in the class by its definition. None: nothing is known to.

    Where a result named the reference, what came before held: reasoning broke.
    """
    usual = CLASSES[word.label].link
    if word.label == "judge_or_label_doubt" or case.facts is None or case.gold_facts is None:
        return usual
    if word.label == "visual_grounding":
        return "grounding"
    if case.gold_facts.seen or case.gold_facts.confirmed_event is not None:
        return "reasoning"
    unseen = case.had_picture is False or (case.facts.picture_lost and not case.facts.looked)
    if case.gold_facts.region is False or unseen:
        return "grounding"
    return "retrieval" if case.searched else usual
