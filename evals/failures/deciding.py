"""Stage one: what the facts of an episode decide about a wrong answer, without a model.

The first rule that applies decides; docs/taxonomy.md argues their order. No rule knows which agent ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fieldmark.evals.failures import rules_of_acts, rules_of_answers, rules_of_endings, rules_of_gold
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.hierarchy import Hierarchy
from fieldmark.evals.failures.links import first_broken


def decide(case: Case, hierarchies: Sequence[Hierarchy] = ()) -> Decision | Open:
    """The class of a wrong answer and the link that broke first; or why facts leave it open."""
    word = _first(case, hierarchies)
    return word if isinstance(word, Open) else replace(word, link=first_broken(case, word))


def _first(case: Case, hierarchies: Sequence[Hierarchy]) -> Decision | Open:
    word = (
        rules_of_endings.ran_out(case)
        or rules_of_endings.said_nothing(case)
        or rules_of_answers.doubt(case)
        or rules_of_answers.form(case)
    )
    if word:
        return word
    if case.facts is None:
        return Open("no_facts")
    word = (
        rules_of_acts.no_act(case, case.facts)
        or rules_of_acts.tools_failed(case, case.facts)
        or rules_of_acts.never_saw(case)
    )
    if word:
        return word
    if case.gold is None or case.gold_facts is None:
        return Open("no_gold")
    return rules_of_gold.first(case, case.facts, case.gold, case.gold_facts, hierarchies)
