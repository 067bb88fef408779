"""How far annotators agree: Cohen's κ of each pair, Krippendorff's α of all of them.

Adjudications are no marks of their own: whoever adjudicates has seen the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from fieldmark.evals.curation.audit.marks import AFTER, STEP, Mark, marks_of
from fieldmark.evals.curation.project import Project
from fieldmark.evals.failures.agreement import Agreement, agreement


@dataclass(frozen=True)
class AuditAgreement:
    """`pairs`: κ of each two, over the candidates that both marked; `alpha`: None where it is not defined."""

    marked: dict[str, int]
    pairs: list[Agreement]
    alpha: float | None


def audit_agreement(project: Project) -> AuditAgreement:
    """Over keep, correct and drop, as each said for themselves."""
    units = [_independent(project, each.id) for each in project.candidates(after=AFTER)]
    names = sorted({name for unit in units for name in unit})
    pairs = [
        agreement(one, two, [(unit[one], unit[two]) for unit in units if one in unit and two in unit])
        for one, two in combinations(names, 2)
    ]
    marked = {name: sum(name in unit for unit in units) for name in names}
    return AuditAgreement(marked, pairs, alpha([list(unit.values()) for unit in units]))


def _independent(project: Project, candidate: str) -> dict[str, str]:
    marks: dict[str, Mark] = marks_of(project.history(candidate, STEP))
    return {who: each.choice for who, each in marks.items() if not each.adjudicates}


def alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Krippendorff's α for nominal values with any number of raters and missing ones: a list a unit.

    By coincidences, after Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C. None:
    nothing was rated twice, or all ratings are one and the same value.
    """
    weights: dict[tuple[str, str], float] = {}
    for unit in units:
        if len(unit) < 2:
            continue
        coincidences = Counter((a, b) for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j)
        for pair, count in coincidences.items():
            weights[pair] = weights.get(pair, 0.0) + count / (len(unit) - 1)
    totals: dict[str, float] = {}
    for (one, _), weight in weights.items():
        totals[one] = totals.get(one, 0.0) + weight
    n = sum(totals.values())
    expected = n * n - sum(total * total for total in totals.values())
    if not expected:
        return None
    observed = sum(weight for (one, other), weight in weights.items() if one != other)
    return 1 - (n - 1) * observed / expected
