"""Whether a judge can judge, found out before anything is spent."""

from __future__ import annotations

from fieldmark.evals.judges import Judge


def check(judge: Judge) -> None:
    """UsageError when the server of a judge that is a model is not there, or does not serve it."""
    reach = getattr(judge, "check_reachable", None)
    if callable(reach):
        reach()
