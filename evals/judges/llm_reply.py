"""What a judge's reply says: one JSON object with a verdict, or nothing. Prose is never a verdict.

Thinking is left out, fences and words around the object do no harm. Objects that do not agree, one without a
score from 0 to 1, and one that the answer itself holds word for word (a quotation, or an answer that plays
the judge) are no verdict. A cut reply counts only when something follows both its verdict and its score.
`finer` may be left out, and counts only with `correct`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.judges.base import Judgement
from fieldmark.records import VerdictLabel
from fieldmark.tools.model_text import FoundObject

LABELS: tuple[VerdictLabel, ...] = get_args(VerdictLabel)
_KEYS = frozenset({"verdict", "score", "finer", "reason"})


def read_reply(text: str, quoted: Sequence[str] = ()) -> Judgement:
    """The verdict of a reply. `quoted`: the texts of the agent that the judge was given. NotUsed else."""
    found = objects_with(text, "verdict", quoted)
    read = [_judgement(each) for each in found]
    if len({(said.label, said.score, said.finer) for said in read}) > 1:
        raise NotUsed("it holds several verdicts that differ")
    return read[0]


def _judgement(found: FoundObject) -> Judgement:
    value = found.value
    if found.repaired and not value.keys() <= _KEYS:
        raise NotUsed("its JSON is broken, and holds more than verdict, score, finer and reason")
    if found.cut and [*value][-1] != "reason":
        raise NotUsed("it breaks off before its end")
    label, reason = _label(value["verdict"]), value.get("reason")
    score = _score(value.get("score"))
    if (label, score) in (("correct", 0.0), ("incorrect", 1.0)):
        raise NotUsed(f"its score {score:g} contradicts its verdict {label}")
    return Judgement(
        label, score, reason if isinstance(reason, str) else "",
        finer=label == "correct" and value.get("finer") is True,
        repaired=found.repaired, truncated=found.cut,
    )  # fmt: skip


def _label(value: Any) -> VerdictLabel:
    for label in LABELS:
        if value == label:
            return label
    raise NotUsed(f"its verdict is none of {', '.join(LABELS)}")


def _score(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= 1:
        raise NotUsed("its score is no number from 0 to 1")
    return float(value)
