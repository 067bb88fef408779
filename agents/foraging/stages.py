"""What the model is told at each stage, and the event that a stage leaves in the trace."""

from __future__ import annotations

from string import Template
from typing import Any

from fieldmark.agents.foraging.comparing import to_look_at
from fieldmark.agents.foraging.ledger import Evidence, Hypothesis, Ledger, Verdict
from fieldmark.agents.foraging.telling import as_data, in_words
from fieldmark.agents.messages import Message, Part, picture_part, prompt_text, text_part, user
from fieldmark.client import GatewayClient

_FIRST = "Look for what would tell the best hypothesis from its nearest neighbour."


def observe_part() -> Part:
    """What is asked beside the task itself."""
    return text_part(prompt_text("forager_observe"))


def acquire_message(ledger: Ledger, verdict: Verdict | None) -> Message:
    goal = _FIRST if verdict is None else f"{_finding(verdict)}\nLook for that."
    return _message("forager_acquire", ledger=in_words(ledger), goal=goal)


def verify_message(ledger: Ledger, candidate: Hypothesis, *, sees: bool) -> Message:
    """The question whether it is exactly this, with the pictures of the evidence for a model that sees."""
    shown = to_look_at(ledger, candidate) if sees else []
    names = ", ".join(each.id for each in shown)
    ask = _message(
        "forager_verify",
        ledger=in_words(ledger),
        candidate=candidate.name,
        neighbour=ledger.neighbour or "name it yourself",
        pictures=f"Below once more, to be held against the picture of the question: {names}.\n"
        if shown
        else "",
    )
    return user(*ask["content"], *(part for each in shown for part in _shown(each)))


def conclude_message(ledger: Ledger, verdict: Verdict | None) -> Message:
    goal = "" if verdict is None else _finding(verdict)
    return _message("forager_conclude", ledger=in_words(ledger), goal=goal)


def log_stage(
    gateway: GatewayClient,
    stage: str,
    message: str,
    ledger: Ledger,
    *,
    new: tuple[Evidence, ...] = (),
    verdict: Verdict | None = None,
    **more: Any,
) -> None:
    """One `log` event: a line to read, and the ledger as it is now in `data`."""
    data = as_data(ledger, new, verdict, stage=stage, **more)
    gateway.event("log", level="info", message=f"forager {stage}: {message}", data=data)


def _finding(verdict: Verdict) -> str:
    found = {"refuted": "contradicted", "unsure": "not told from its nearest neighbour", "exact": "supported"}
    lines = [f"Verification: {verdict.candidate} is {found[verdict.ruling]}. {verdict.why}".strip()]
    if verdict.missing:
        lines.append(f"Missing: {verdict.missing}")
    if verdict.broader:
        lines.append(f"The evidence carries: {verdict.broader}")
    return "\n".join(lines)


def _message(name: str, **fields: str) -> Message:
    return user(text_part(Template(prompt_text(name)).substitute(fields)))


def _shown(each: Evidence) -> list[Part]:
    return [text_part(f"{each.id} ({each.tool}):"), *map(picture_part, each.pictures[:1])]
