"""Why each answer of a run that is not correct was wrong: facts first, then a model where one is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.errors import InterruptedRun, UsageError
from fieldmark.evals.failures.aircraft_types import aircraft_types
from fieldmark.evals.failures.case import Case, Decision, Open, SecondStage
from fieldmark.evals.failures.cases import cases_of
from fieldmark.evals.failures.deciding import decide
from fieldmark.evals.failures.hierarchy import OWN_SOURCES, Hierarchy
from fieldmark.evals.failures.hierarchy_file import HierarchyFile
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.findings import Failure, FailureReason, Stage
from fieldmark.rundir import RunDir

AT_ONCE = 8
"""Cases that a second stage decides at once."""
FACTS = "facts"
"""The `classifier` of a row that facts decided, or left open."""
Say = Callable[[str], None]


class Classified(BaseModel):
    """What a sitting did with the `wrong` answers of a run: `by_facts` + `by_model` + those in `open`.

    `labels`: class → n; `open`: reason → n. `written` rows are new or differ from what stood there.
    """

    run: str
    taxonomy: str
    wrong: int
    by_facts: int
    by_model: int
    written: int
    labels: dict[str, int]
    open: dict[str, int]


@dataclass(frozen=True)
class _Found:
    """A row with its private reason; `reason` is None for an open row, and for one that is kept."""

    row: Failure
    reason: FailureReason | None


def classify_run(
    run: RunDir,
    *,
    hierarchy: Path | None = None,
    second_stage: SecondStage | None = None,
    anew: bool = False,
    say: Say = print,
) -> Classified:
    """Classify every answer of a run that is not correct, and append the rows that are new.

    Facts decide afresh each time; where the trace or gold is not here any more, a class given earlier stands.
    A case that they leave open keeps what a model said of it, until its verdict changes, another
    `second_stage` is given, or `anew`. An error of the second stage leaves it open.
    UsageError for a `hierarchy` (a TSV file) that cannot be used.
    """
    sources: list[Hierarchy | None] = [HierarchyFile(hierarchy) if hierarchy else None, aircraft_types()]
    hierarchies = [source for source in sources if source]
    run.lock()
    try:
        sitting = _Sitting(run.failures(), hierarchies, second_stage, anew, say)
        sitting.warn_of_lost_hierarchies()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            each = pool.map if second_stage else map
            done = [_written(run, sitting, found) for found in each(sitting.classify, cases_of(run))]
    finally:
        run.unlock()
    return _told(run, done)


@dataclass(frozen=True)
class _Sitting:
    """`before`: the latest row of each episode."""

    before: dict[tuple[str, int], Failure]
    hierarchies: Sequence[Hierarchy]
    second_stage: SecondStage | None
    anew: bool
    say: Say

    def warn_of_lost_hierarchies(self) -> None:
        """Where earlier rows rest on a source that is not here now."""
        rested = {row.hierarchy for row in self.before.values() if row.hierarchy}
        for name in sorted(rested - {source.name for source in self.hierarchies} - OWN_SOURCES):
            self.say(f"earlier rows rest on the hierarchy {name}, which is not given now: classified without")

    def classify(self, case: Case) -> _Found:
        """The row of a case."""
        earlier = self._earlier(case)
        if earlier and (case.gold is None or case.facts is None):
            return _Found(earlier, None)  # it was decided when there was more to decide by
        word = decide(case, self.hierarchies)
        if isinstance(word, Decision):
            return _found(case, word, FACTS, stage="facts")
        kept = self._kept(case)
        if kept:
            return _Found(kept, None)
        asked = self._ask(case, word)
        if asked and self.second_stage:
            return _found(case, asked, self.second_stage.name, stage="model")
        return _found(case, word, FACTS, stage="open")

    def _kept(self, case: Case) -> Failure | None:
        """What a model said of the case before, where that still holds and is not to be asked again."""
        row = self._earlier(case)
        if row is None or row.stage != "model" or self.anew:
            return None
        same_model = self.second_stage is None or self.second_stage.name == row.classifier
        return row if same_model else None

    def _earlier(self, case: Case) -> Failure | None:
        """The class that a case has by the classes and the verdict of now."""
        row = self.before.get(case.record.key)
        if row is None or row.label is None:
            return None
        return row if row.outcome == case.outcome and row.taxonomy == VERSION else None

    def _ask(self, case: Case, word: Open) -> Decision | None:
        if self.second_stage is None:
            return None
        try:
            return self.second_stage(case, word)
        except (UsageError, InterruptedRun):
            raise
        except Exception as error:  # one answer of a model: the others are classified all the same
            self.say(f"episode {case.record.id} stays open: {error}"[:300])
            return None


def _found(case: Case, word: Decision | Open, classifier: str, stage: Stage) -> _Found:
    record = case.record
    if isinstance(word, Open):
        return _Found(_row(case, word, classifier, stage), None)
    reason = FailureReason(
        id=record.id, epoch=record.epoch, classifier=classifier,
        reason=word.reason, events=list(word.gold_events),
    )  # fmt: skip
    return _Found(_row(case, word, classifier, stage), reason)


def _row(case: Case, word: Decision | Open, classifier: str, stage: Stage) -> Failure:
    row = Failure(
        id=case.record.id, epoch=case.record.epoch, taxonomy=VERSION, outcome=case.outcome,
        label=None, stage=stage, classifier=classifier,
    )  # fmt: skip
    if isinstance(word, Open):
        return row.model_copy(update={"why_open": word.why})
    return row.model_copy(
        update={
            "label": word.label,
            "sub": word.sub,
            "link": word.link,
            "hierarchy": word.source,
            "events": list(word.events),
        }
    )


def _written(run: RunDir, sitting: _Sitting, found: _Found) -> tuple[Failure, bool]:
    """The row, and whether it had to be written."""
    if found.row == sitting.before.get(found.row.key):
        return found.row, False
    if found.reason:
        jsonl.append(run.failure_reasons_file, found.reason.model_dump(mode="json"), durable=False)
    jsonl.append(run.failures_file, found.row.model_dump(mode="json"), durable=False)
    return found.row, True


def _told(run: RunDir, done: Sequence[tuple[Failure, bool]]) -> Classified:
    rows = [row for row, _ in done]
    stages = Counter(row.stage for row in rows)
    return Classified(
        run=run.path.name, taxonomy=VERSION, wrong=len(rows),
        by_facts=stages["facts"], by_model=stages["model"], written=sum(new for _, new in done),
        labels=dict(Counter(row.label for row in rows if row.label)),
        open=dict(Counter(row.why_open or "" for row in rows if row.stage == "open")),
    )  # fmt: skip
