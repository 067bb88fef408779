"""Judges: is an answer right. A judge is one file here that assigns `JUDGE`, or a file of the user's own."""

from __future__ import annotations

from pathlib import Path

from fieldmark import plugins
from fieldmark.evals.judges.base import Judge, Judgement
from fieldmark.user_file import is_file_name

__all__ = ["Judge", "Judgement", "get_judge"]


def get_judge(name: str) -> Judge:
    """The judge of that name, or of that file; UsageError lists the known ones."""
    if is_file_name(name):
        from fieldmark.evals.judges import own

        return own.load(Path(name))
    judge: Judge = plugins.load("fieldmark.evals.judges", "JUDGE", name)
    return judge
