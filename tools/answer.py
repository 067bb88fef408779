"""The answer to the question; the last one given counts."""

from __future__ import annotations

from pydantic import Field, field_validator

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.cutting import cut_to_bytes
from fieldmark.tools.numbers import OptionalNumber

_RATIONALE, _EVIDENCE, _RAW = 16_000, 500, 4_000
"""Bytes that are recorded of the rationale, of each piece of evidence and of the text once more, so that the
event stays below 64 kB in any script."""


class AnswerArgs(Args):
    text: str = Field(description="the answer itself, as specific as the evidence allows", max_length=2000)
    confidence: OptionalNumber = Field(None, description="how sure you are, 0 to 1", ge=0, le=1)
    rationale: str | None = Field(None, description="why, in a few sentences", max_length=8000)
    evidence: list[int | str] = Field(
        default_factory=list, description="what it rests on: web addresses or short references", max_length=50
    )

    @field_validator("text")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("expected a non-empty answer")
        return value.strip()


def run(args: AnswerArgs, context: Context) -> ToolResult:
    context.emit(
        "answer",
        text=args.text,
        confidence=args.confidence,
        rationale=args.rationale and cut_to_bytes(args.rationale, _RATIONALE),
        evidence=[item if isinstance(item, int) else cut_to_bytes(item, _EVIDENCE) for item in args.evidence],
        raw=cut_to_bytes(args.text, _RAW),
        parsed_by="tool",
    )
    return ToolResult("answer recorded")


TOOL = Tool(
    name="answer",
    description=(
        "Give your answer and finish: the answer itself in `text`, your confidence from 0 to 1, a short "
        "rationale and the evidence it rests on. If you answer again, the last answer counts."
    ),
    args=AnswerArgs,
    action="other",
    run=run,
)
