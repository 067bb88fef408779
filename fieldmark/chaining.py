"""The first broken link of each answer of a run that is not correct, by Pix2Fact's scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.classifying import AT_ONCE, FACTS
from fieldmark.evals.failures.case import Case
from fieldmark.evals.failures.cases import cases_of
from fieldmark.evals.failures.chain.by_facts import Broken, broken
from fieldmark.evals.failures.chain.llm import ChainModel
from fieldmark.evals.failures.chain.scheme import SCHEME
from fieldmark.evals.judges.base import Unjudged
from fieldmark.findings import BrokenBy, ChainBreak, FailureReason
from fieldmark.rundir import RunDir

Say = Callable[[str], None]


class Chained(BaseModel):
    """What a sitting did with the `wrong` answers of a run. `links`: stage, or "none", → n; `by`: what said
    it → n.
    """

    run: str
    scheme: str
    wrong: int
    written: int
    links: dict[str, int]
    by: dict[str, int]


def chain_run(run: RunDir, *, model: ChainModel | None = None, anew: bool = False, say: Say) -> Chained:
    """Facts decide first; of what they presume or leave open the model is asked, if there is one.

    What a model said before stands until the verdict changes, another model is given, or `anew`.
    """
    run.lock()
    try:
        before = run.chain_breaks()
        sitting = _Sitting(before, model, anew, say)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            each = pool.map if model else map
            found = list(each(sitting.place, cases_of(run)))
        written = sum(_write(run, before, *one) for one in found)
    finally:
        run.unlock()
    rows = [row for row, _ in found]
    return Chained(
        run=run.path.name, scheme=SCHEME, wrong=len(rows), written=written,
        links=dict(Counter(row.link or "none" for row in rows if row.by != "open")),
        by=dict(Counter(row.by for row in rows)),
    )  # fmt: skip


@dataclass(frozen=True)
class _Sitting:
    """`before`: the latest row of each episode."""

    before: dict[tuple[str, int], ChainBreak]
    model: ChainModel | None
    anew: bool
    say: Say

    def place(self, case: Case) -> tuple[ChainBreak, FailureReason | None]:
        """The row of a case, and its private part where it is new."""
        earlier = self._earlier(case)
        if earlier and (case.gold is None or not case.events):
            return earlier, None  # it was said when there was more to go by
        word = broken(case)
        if word and word.sure:
            return _row(case, word, "facts", FACTS)
        if earlier and earlier.by == "model" and not self.anew and self._same(earlier):
            return earlier, None
        said = self._ask(case, word)
        if said and self.model:
            return _row(case, said, "model", self.model.name)
        return _row(case, word, "presumed" if word else "open", FACTS)

    def _earlier(self, case: Case) -> ChainBreak | None:
        row = self.before.get(case.record.key)
        return row if row and row.scheme == SCHEME and row.outcome == case.outcome else None

    def _same(self, row: ChainBreak) -> bool:
        return self.model is None or self.model.name == row.classifier

    def _ask(self, case: Case, word: Broken | None) -> Broken | None:
        try:
            return self.model(case, word) if self.model else None
        except Unjudged as error:
            self.say(f"episode {case.record.id} is left to facts: {error}"[:300])
            return None


def _row(
    case: Case, word: Broken | None, by: BrokenBy, classifier: str
) -> tuple[ChainBreak, FailureReason | None]:
    id_, epoch = case.record.key
    link, kind = (word.link, word.kind) if word else (None, None)
    row = ChainBreak(
        id=id_, epoch=epoch, scheme=SCHEME, outcome=case.outcome,
        link=link, kind=kind, by=by, classifier=classifier,
    )  # fmt: skip
    if word is None:
        return row, None
    events = list(word.events)
    reason = FailureReason(id=id_, epoch=epoch, classifier=classifier, reason=word.reason, events=events)
    return row, reason


def _write(
    run: RunDir,
    before: dict[tuple[str, int], ChainBreak],
    row: ChainBreak,
    reason: FailureReason | None,
) -> bool:
    """Whether it had to be written."""
    if row == before.get(row.key):
        return False
    if reason:
        jsonl.append(run.chain_reasons_file, reason.model_dump(mode="json"), durable=False)
    jsonl.append(run.chain_breaks_file, row.model_dump(mode="json"), durable=False)
    return True
