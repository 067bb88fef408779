"""The table of tool calls: each call of a model, and what it led to."""

from __future__ import annotations

from collections.abc import Iterator

from fieldmark.evals.frames.rows import CallRow
from fieldmark.evals.frames.source import Source
from fieldmark.evals.metrics.acts import Act


def calls(source: Source) -> Iterator[CallRow]:
    """Episode by episode, in the order of the trace; episodes without a readable trace have none."""
    for cell, record in source.episodes:
        read = source.traces[record.key]
        for n, (side, act) in enumerate(read.acts.calls if read else []):
            for depth, each in _walk(act):
                yield CallRow(
                    run=source.name,
                    id=cell.id,
                    epoch=cell.epoch,
                    n=n,
                    kind=side or ("inner" if depth else "act"),
                    name=each.name,
                    action=each.action,
                    innermost=side is None and not each.calls,
                    ok=each.ok,
                    error_kind=each.error_kind,
                    seconds=each.seconds,
                    seq=each.seq,
                    skills=_skills(source, each.name),
                )


def _walk(act: Act, depth: int = 0) -> Iterator[tuple[int, Act]]:
    yield depth, act
    for inner in act.calls:
        yield from _walk(inner, depth + 1)


def _skills(source: Source, tool: str) -> str | None:
    return None if source.skills_of is None else ",".join(source.skills_of.get(tool, []))
