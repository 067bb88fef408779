"""The minimum detectable effect, against simulated comparisons of that very effect."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import ttest_1samp

from fieldmark.commands.power import command
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.power import detectable
from fieldmark.evals.comparison.significance import PairedTable, mid_p

RUNS = 2000


def correct(
    p: float, epochs: int, shared: np.ndarray, own: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(runs, tasks) means over epochs: each verdict follows the task's draw, the run's own, or a fresh one.

    Two runs agree on a task by 0.3, two epochs of one run by 0.4.
    """
    follows = rng.random((epochs, *shared.shape))
    fresh = rng.random((epochs, *shared.shape))
    drawn = np.where(follows < 0.3**0.5, shared, np.where(follows < 0.3**0.5 + 0.1**0.5, own, fresh))
    return np.asarray((drawn < p).mean(axis=0))


def simulated(tasks: int, epochs: int, baseline: float, effect: float) -> np.ndarray:
    """(runs, tasks) differences of means over epochs."""
    rng = np.random.default_rng(11)
    shared, first, second = rng.random((3, RUNS, tasks))
    a = correct(baseline, epochs, shared, first, rng)
    return np.asarray(correct(baseline + effect, epochs, shared, second, rng) - a)


def effect_of(tasks: int, epochs: int, baseline: float) -> float:
    found = detectable(tasks, epochs=epochs, baseline=baseline, shared=0.3, repeat=0.4).effect
    assert found is not None
    return found


def test_mcnemar_finds_the_effect_in_four_of_five_runs() -> None:
    differences = simulated(300, 1, 0.25, effect_of(300, 1, 0.25))
    tables = [
        PairedTable(both=0, only_a=int((row < 0).sum()), only_b=int((row > 0).sum()), neither=0)
        for row in differences
    ]
    assert 0.77 <= np.mean([mid_p(table) <= 0.05 for table in tables]) <= 0.83


@pytest.mark.parametrize("epochs", [2, 5])
def test_epochs_are_worth_what_is_promised(epochs: int) -> None:
    differences = simulated(150, epochs, 0.3, effect_of(150, epochs, 0.3))
    assert 0.77 <= (ttest_1samp(differences, 0, axis=1).pvalue <= 0.05).mean() <= 0.83


def test_more_tasks_and_more_epochs_find_less() -> None:
    effects = [effect_of(*grid, 0.25) for grid in ((50, 1), (300, 1), (300, 5))]
    assert effects == sorted(effects, reverse=True)


def test_the_command_names_its_assumptions() -> None:
    text = CliRunner().invoke(command, ["--tasks", "311"], catch_exceptions=False).stdout
    assert text.startswith("311 tasks × 1 epoch, baseline 25 %: an improvement of ")
    assert "assumed agreement" in text
    told = json.loads(CliRunner().invoke(command, ["--tasks", "3", "--json"]).stdout)
    assert told["effect"] is None


def test_a_run_that_agrees_less_with_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="--repeat"):
        CliRunner().invoke(command, ["--tasks", "9", "--repeat", "0.2"], catch_exceptions=False)
