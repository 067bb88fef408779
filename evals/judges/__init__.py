"""Judges: is an answer right. A judge is one file here that assigns `JUDGE`, a judge or what makes one
of its settings, or a file of the user's own.
"""

from __future__ import annotations

from pathlib import Path

from fieldmark import plugins
from fieldmark.evals.judges.base import Judge, Judgement
from fieldmark.model_config import JudgeConfig
from fieldmark.user_file import is_file_name

__all__ = ["Judge", "Judgement", "get_judge"]


def get_judge(settings: JudgeConfig | str) -> Judge:
    """The judge of that name, or of that file; UsageError lists the known ones. Asks no server."""
    settings = JudgeConfig(name=settings) if isinstance(settings, str) else settings
    name = settings.name
    if is_file_name(name):
        from fieldmark.evals.judges import own

        return own.load(Path(name))
    found = plugins.load("fieldmark.evals.judges", "JUDGE", name, hyphens=True)
    judge: Judge = found(settings) if callable(found) else found
    return judge
