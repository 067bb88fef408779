"""Tests of a paired comparison: McNemar's on the tasks that flipped, Holm's correction for several."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel


class PairedTable(BaseModel):
    """Tasks that both runs have right, only the first, only the second, neither."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.only_a + self.only_b + self.neither


def exact_p(table: PairedTable) -> float:
    """Two-sided exact McNemar: never more than 5 % false positives at 0.05, and with few flips fewer."""
    from statsmodels.stats.contingency_tables import mcnemar

    cells = [[table.both, table.only_a], [table.only_b, table.neither]]
    return float(min(1.0, mcnemar(cells, exact=True).pvalue))


def mid_p(table: PairedTable) -> float:
    """The exact p value with half the weight of what was seen: its false positives are close to 5 %.

    Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91.
    """
    from scipy.stats import binom

    fewer, flipped = min(table.only_a, table.only_b), table.only_a + table.only_b
    if table.only_a == table.only_b:
        return 1.0 - 0.5 * float(binom.pmf(fewer, flipped, 0.5)) if flipped else 1.0
    return float(2 * binom.cdf(fewer, flipped, 0.5) - binom.pmf(fewer, flipped, 0.5))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment; compare each with the level of the whole family."""
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(p_values, method="holm")[1]]
