"""Judges: is an answer right. A judge is one file here that assigns `JUDGE`."""

from __future__ import annotations

from fieldmark import plugins
from fieldmark.evals.judges.base import Judge, Judgement

__all__ = ["Judge", "Judgement", "get_judge"]


def get_judge(name: str) -> Judge:
    """The judge of that name; UsageError lists the known ones."""
    judge: Judge = plugins.load("fieldmark.evals.judges", "JUDGE", name)
    return judge
