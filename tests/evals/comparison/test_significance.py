"""The statistics, against scipy and statsmodels, and against what they promise, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from fieldmark.evals.comparison.significance import PairedTable, exact_p, holm, mid_p
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.shares import Share, wilson


def flips(only_a: int, only_b: int) -> PairedTable:
    return PairedTable(both=10, only_a=only_a, only_b=only_b, neither=10)


@pytest.mark.parametrize(("only_a", "only_b"), [(1, 4), (6, 16), (0, 9), (12, 12), (40, 61)])
def test_mcnemar_is_the_binomial_test_of_the_flips(only_a: int, only_b: int) -> None:
    by_scipy = binomtest(only_a, only_a + only_b).pvalue
    assert exact_p(flips(only_a, only_b)) == pytest.approx(by_scipy)
    assert mid_p(flips(only_a, only_b)) < by_scipy


def test_mid_p_of_a_published_table() -> None:
    """Fagerland et al. 2013, table 1 (1 and 7 flips): exact 0.0703, mid-p 0.0391."""
    assert exact_p(flips(1, 7)) == pytest.approx(0.0703, abs=5e-5)
    assert mid_p(flips(1, 7)) == pytest.approx(0.0391, abs=5e-5)


def test_without_a_flip_nothing_is_shown() -> None:
    assert (exact_p(flips(0, 0)), mid_p(flips(0, 0))) == (1.0, 1.0)


def test_holm_of_known_values() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.parametrize(("count", "n"), [(0, 20), (43, 311), (78, 311), (20, 20)])
def test_wilson_is_that_of_statsmodels(count: int, n: int) -> None:
    found = wilson(Share.of(count, n))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(proportion_confint(count, n, method="wilson"), abs=1e-9)


@pytest.mark.parametrize("flips_of_each", [0.05, 0.1, 0.2])
def test_false_positives_of_mcnemar_at_five_per_cent(flips_of_each: float) -> None:
    """20,000 pairs of equally good runs over 311 tasks: mid-p 4 to 6 %, exact never above 5 %."""
    chances = [0.15, flips_of_each, flips_of_each, 0.85 - 2 * flips_of_each]
    drawn = np.random.default_rng(7).multinomial(311, chances, size=20_000)
    pairs, counts = np.unique(drawn[:, 1:3], axis=0, return_counts=True)
    tables = [flips(int(a), int(b)) for a, b in pairs]
    mid, exact = (
        counts[[p(table) <= 0.05 for table in tables]].sum() / counts.sum() for p in (mid_p, exact_p)
    )
    assert 0.04 <= mid <= 0.06
    assert exact <= 0.05


def test_mcnemar_exact_agrees_with_statsmodels() -> None:
    by_statsmodels = mcnemar([[4, 1], [4, 1]], exact=True).pvalue
    assert exact_p(PairedTable(both=4, only_a=1, only_b=4, neither=1)) == pytest.approx(by_statsmodels)


def test_the_bootstrap_takes_a_cluster_whole() -> None:
    """100 tasks of ten targets, each target all right or all wrong: as wide as ten tasks, not a hundred."""
    by_target = resampled([10, 0] * 5, [10] * 10)
    by_task = resampled([1, 0] * 50, [1] * 100)
    assert by_target is not None
    assert by_task is not None
    assert by_target.high - by_target.low > 2.5 * (by_task.high - by_task.low)


def test_without_spread_there_is_no_interval() -> None:
    assert resampled([1, 2, 3], [1, 2, 3]) is None
    assert resampled([], []) is None
