"""A judge of the user's own: a Python file, anywhere, with `judge(question, gold, answer)` or `JUDGE`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from fieldmark import plugins
from fieldmark.errors import UsageError
from fieldmark.evals.judges.base import Judge, Judgement
from fieldmark.records import VerdictLabel
from fieldmark.task import Gold
from fieldmark.user_file import run_or_refuse

_LABELS = get_args(VerdictLabel)
_FORMS = f"return {', '.join(_LABELS)}, a pair of one of them and a reason, True, False or a Judgement"


@dataclass(frozen=True)
class FunctionJudge:
    """A function as a judge, called by its file. `answer` is None when the agent gave none."""

    name: str
    function: Callable[[str, Gold, str | None], Any]

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        """TypeError when it says nothing that is a verdict: the episode then stays unjudged."""
        return _judgement(self.function(question, gold, answer))


def load(path: Path) -> Judge:
    """Run the file on the host. UsageError when it fails, or makes no judge."""
    module = run_or_refuse("--judge", path, f"own_judge_{path.stem}")
    found = getattr(module, "JUDGE", None)
    function = getattr(module, "judge", None)
    if found is None and callable(function):
        found = FunctionJudge(path.stem, function)
    if found is None or not callable(getattr(found, "judge", None)):
        raise UsageError(f"--judge {path} makes no judge: define judge(question, gold, answer), or JUDGE")
    name = getattr(found, "name", None)
    ours = plugins.names("fieldmark.evals.judges", "JUDGE")
    if not isinstance(name, str) or not name or name.replace("-", "_") in ours:
        raise UsageError(f"--judge {path}: its name is {name!r}: give it a name that no judge of ours has")
    judge: Judge = found
    return judge


def _judgement(said: Any) -> Judgement:
    if isinstance(said, Judgement):
        return said
    if isinstance(said, bool):
        return Judgement.of("correct" if said else "incorrect", "")
    label, reason = said if isinstance(said, tuple) and len(said) == 2 else (said, "")
    if label not in _LABELS:
        raise TypeError(f"the judge said {said!r:.80}: {_FORMS}")
    return Judgement.of(label, str(reason))
