"""Which paper's figures stand beside a run: by its benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.comparison.published import Beside, beside
from fieldmark.evals.comparison.published_macro import MacroBeside, macro_beside
from fieldmark.evals.metrics.variants import BENCHMARK as FINE_R1
from fieldmark.rundir import RunDir


def beside_paper(runs: Sequence[RunDir]) -> Beside | MacroBeside:
    """UsageError: runs over a benchmark without figures, or over several."""
    told = [run.config().get("benchmark") for run in runs]
    if all(isinstance(each, dict) and each.get("name") == FINE_R1 for each in told):
        return macro_beside(runs)
    return beside(runs)
