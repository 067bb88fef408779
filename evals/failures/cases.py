"""The cases of a run: each answer that is not correct, joined with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from fieldmark import jsonl
from fieldmark.evals.facts.found import facts_of, gold_facts_of
from fieldmark.evals.failures.case import Case, Word, WrongOutcome
from fieldmark.evals.failures.current import wrong_cells
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.records import PERSON
from fieldmark.rundir import RunDir


def cases_of(run: RunDir) -> Iterator[Case]:
    """In run order. Facts are found afresh, by the rules of today; a trace that cannot be read has none."""
    golds = run.gold()
    questions = {str(row.get("id")): str(row.get("question") or "") for row in run.tasks()}
    said = _audit(run)
    for cell in wrong_cells(cells(run)):
        assert cell.record is not None  # it was run
        record, gold, question = cell.record, golds.get(cell.id), questions.get(cell.id, "")
        events = run.events(record)
        told = bool(events) and record.agent != PERSON  # the trace has what the agent did
        yield Case(
            question=question,
            outcome=cast(WrongOutcome, cell.outcome),
            record=record,
            verdict=cell.verdict,
            gold=gold,
            events=events,
            facts=facts_of(record, events, question) if told else None,
            gold_facts=gold_facts_of(record, events, gold, question) if told and gold else None,
            audit=said.get((*record.key, record.answer or "")),
        )


def _audit(run: RunDir) -> dict[tuple[str, int, str], Word]:
    """A person's words, each of the answer that it was said of."""
    rows = jsonl.read(run.audit_file).rows
    return {(row["id"], row["epoch"], row["answer"]): row["word"] for row in rows}
