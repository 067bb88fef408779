"""Look in the notes of earlier episodes."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number
from fieldmark.tools.pages.untrusted import defused_row, untrusted


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("what to look for is missing")
    return value.strip()


class RecallArgs(Args):
    query: Annotated[str, AfterValidator(_words)] = Field(
        description="what to look for: an operator, a family, a mark, a feature", max_length=500
    )
    limit: Number = Field(5, description="how many notes, 1 to 10", ge=1, le=10)


def run(args: RecallArgs, context: Context) -> ToolResult:
    reply = context.recall(args.query, int(args.limit))
    hits = reply["hits"]
    if not hits:
        return ToolResult("No note of an earlier episode has these words.", reply)
    lines = "\n".join(f"{hit['rank']}. ({hit['kind']}) {hit['text']}" for hit in hits)
    text = f"Notes of earlier episodes, which may be wrong:\n{untrusted(lines, 'memory')}"
    return ToolResult(text, {**reply, "hits": list(map(defused_row, hits))})


TOOL = Tool(
    name="recall",
    description=(
        "Look in the notes that earlier episodes took, on other pictures: operators, families, visual cues, "
        "look-alikes. A note may be wrong or not apply here: check it against this picture before you rely "
        "on it."
    ),
    args=RecallArgs,
    action="other",
    run=run,
    needs="memory",
)
