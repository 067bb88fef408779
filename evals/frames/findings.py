"""The tables of verdicts, facts, failures and broken links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fieldmark.evals.facts.stored import stored_facts
from fieldmark.evals.failures.chain.current import current_breaks
from fieldmark.evals.failures.current import current_failures
from fieldmark.evals.frames.rows import ChainBreakRow, FactRow, FailureRow, VerdictRow
from fieldmark.evals.frames.source import Source
from fieldmark.records import Verdict


def verdicts(source: Source) -> Iterator[VerdictRow]:
    """The latest of each judge, also of those that judged before the run's."""
    counting = source.folder.verdicts()
    for verdict in source.folder.all_verdicts():
        current = counting.get(verdict.key)
        yield VerdictRow(
            run=source.name,
            current=current is not None and current.judge == verdict.judge,
            **_counted(verdict),
            **verdict.model_dump(
                include={"id", "epoch", "judge", "label", "score", "finer", "repaired", "truncated"}
            ),
        )


def _counted(verdict: Verdict) -> dict[str, Any]:
    votes, use = verdict.votes, verdict.use
    return {
        "model_calls": use.calls if use else None,
        "input_tokens": use.tokens.input if use else None,
        "output_tokens": use.tokens.output if use else None,
        "votes": sum(votes.values()) if votes else None,
        "agreeing": votes.get(verdict.label, 0) if votes else None,
    }


def facts(source: Source) -> Iterator[FactRow]:
    """Of each episode whose facts are stored; gold's part where it is there, with the verdicts of now."""
    names = set(FactRow.model_fields)
    for found in stored_facts(source.folder).values():
        private = found.gold.model_dump(include=names) if found.gold else {}
        told = {**dict.fromkeys(names), **private, **found.trace.model_dump(include=names)}
        yield FactRow.model_validate({**told, "run": source.name})


def failures(source: Source) -> Iterator[FailureRow]:
    """The latest word on each answer that is not correct now."""
    names = set(FailureRow.model_fields)
    for failure in current_failures(source.folder).values():
        told = failure.model_dump(include=names)
        yield FailureRow.model_validate({**told, "run": source.name, "events": json.dumps(failure.events)})


def chain_breaks(source: Source) -> Iterator[ChainBreakRow]:
    """The latest word on which link broke first, of each answer that is not correct now."""
    names = set(ChainBreakRow.model_fields)
    for row in current_breaks(source.folder, source.cells).values():
        told = row.model_dump(include=names)
        yield ChainBreakRow.model_validate({**told, "run": source.name, "said_by": row.by})
