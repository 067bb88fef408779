"""Take a note for later episodes, resting on results of this one."""

from __future__ import annotations

from pydantic import Field

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.trace import NoteKind

NO_EVIDENCE = frozenset({"recall", "remember", "read_skill", "answer"})
"""Tools whose results say nothing of the picture: a note that cites a note would vouch for itself."""


class RememberArgs(Args):
    text: str = Field(description="the note, one or two sentences that stand alone", max_length=2000)
    kind: NoteKind = Field(description="what it is about")
    cites: list[int] = Field(
        description="numbers of the results that it rests on, as in `(result 12)`", max_length=50
    )


def run(args: RememberArgs, context: Context) -> ToolResult:
    reply = context.remember(args.text, args.kind, args.cites)
    return ToolResult(f"Noted. This episode may take {reply['left']} more.", reply)


TOOL = Tool(
    name="remember",
    description=(
        "Take a note for later episodes, on other pictures, before you answer: an operator (whose livery, "
        "whose mark), a family (what its members share), a visual cue, or how two look-alikes differ. Only "
        "what results of this episode show: cite their numbers. At most 400 characters and five notes."
    ),
    args=RememberArgs,
    action="other",
    run=run,
    needs="notebook",
)
