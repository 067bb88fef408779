"""Stage one: what the facts of an episode decide about a wrong answer, without a model.

The rules are asked in their order and the first that applies decides; docs/taxonomy.md argues the order.
No rule knows which agent ran.
"""

from __future__ import annotations

from fieldmark.evals.failures.case import Case, Decision, Open


def decide(case: Case) -> Decision | Open:
    """The class of a wrong answer, or why facts leave it open."""
    if case.record.status in ("timeout", "budget"):
        last = (case.events[-1].seq,) if case.events else ()
        return Decision("timeout_or_budget", f"the episode ended as {case.record.status}", events=last)
    return Open("no_gold")
