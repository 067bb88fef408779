"""What became of every task × epoch of a run: the one join of tasks, episodes and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir

Outcome = Literal[
    "correct",
    "partially_correct",
    "incorrect",
    "uncertain",
    "no_answer",
    "unjudged",
    "sandbox_error",
    "not_run",
]
DONE: frozenset[Outcome] = frozenset({"correct", "partially_correct", "incorrect", "uncertain", "no_answer"})
"""The agent ended by itself, and there is a word on its answer (an episode without one needs no judge)."""
ATTEMPTED: frozenset[Outcome] = DONE | {"unjudged", "sandbox_error"}
EVERY: frozenset[Outcome] = ATTEMPTED | {"not_run"}
NONE = "(none)"
LabelName = Literal["split", "top", "mid", "source", "language"]
LABELS: tuple[LabelName, ...] = get_args(LabelName)


@dataclass(frozen=True)
class Cell:
    """One task in one epoch; `record` is None when it was not run. `facets` are the labels that only this
    benchmark has.
    """

    id: str
    epoch: int
    split: str
    top: str
    record: EpisodeRecord | None
    verdict: Verdict | None
    mid: str = NONE
    source: str = NONE
    language: str = NONE
    facets: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """Only an `answered` episode can be correct: a time-out or a crash is not, whatever was said."""
        if self.record is None:
            return "not_run"
        if self.record.status == "sandbox_error":
            return "sandbox_error"
        if self.record.status != "answered":
            return "no_answer"
        if self.verdict is not None:
            return self.verdict.label
        return "unjudged" if (self.record.answer or "").strip() else "no_answer"


def cells(run: RunDir) -> list[Cell]:
    """Every task × epoch in run order, then episodes whose task is not in `tasks.jsonl`."""
    records = {record.key: record for record in run.episodes()}
    verdicts = run.verdicts()
    labels = {str(row.get("id")): row.get("labels") for row in run.tasks()}
    keys = [(task_id, epoch) for epoch in _epochs(run, list(records)) for task_id in labels]
    strangers = [key for key in records if key[0] not in labels]
    return [
        _cell(key, labels.get(key[0]), records.get(key), verdicts.get(key)) for key in [*keys, *strangers]
    ]


def _cell(
    key: tuple[str, int],
    labels: Any,
    record: EpisodeRecord | None,
    verdict: Verdict | None,
) -> Cell:
    split, top, mid, source, language = labels_of(labels).values()
    return Cell(*key, split, top, record, verdict, mid, source, language, facets_of(labels))


def _epochs(run: RunDir, keys: Sequence[tuple[str, int]]) -> list[int]:
    asked = run.config().get("epochs")
    planned = range(asked) if isinstance(asked, int) and not isinstance(asked, bool) else range(0)
    return sorted({*planned, *(epoch for _, epoch in keys)} or {0})


def labels_of(labels: Any) -> dict[LabelName, str]:
    """Every label of a row of `tasks.jsonl`, "(none)" where it has none."""
    found = labels if isinstance(labels, dict) else {}
    return {name: _label(found.get(name)) for name in LABELS}


def facets_of(labels: Any) -> dict[str, str]:
    """The facets of a row of `tasks.jsonl`."""
    found = labels.get("facets") if isinstance(labels, dict) else None
    return {str(name): _label(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _label(value: Any) -> str:
    """A missing label is "(none)", a list of labels one joined label: no task leaves the total."""
    if isinstance(value, list):
        value = " + ".join(str(item) for item in value)
    return value.strip() or NONE if isinstance(value, str) else NONE
