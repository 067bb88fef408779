"""Rules on episodes without an answer: they need neither verdict nor gold."""

from __future__ import annotations

from fieldmark.evals.failures.case import Case, Decision
from fieldmark.trace import ModelResponse


def ran_out(case: Case) -> Decision | None:
    """It never came to an answer, whatever it would have been."""
    if case.record.status not in ("timeout", "budget"):
        return None
    return Decision("timeout_or_budget", f"the episode ended as {case.record.status}", events=case.end)


def said_nothing(case: Case) -> Decision | None:
    """No text; by a tool's failure where the agent broke on a call that failed, before its next word."""
    if case.answer:
        return None
    error = case.record.error
    why = f"{case.record.status} ({error.kind})" if error else case.record.status
    last = case.calls[-1] if case.calls else None
    if case.record.status == "agent_error" and last and last.ok is False and not _spoke(case, last.seq):
        return Decision("tool_failure", f"{why} right after a failed call", events=(last.seq,))
    return Decision("generation_or_empty", f"no answer: {why}", events=case.end)


def _spoke(case: Case, after: int) -> bool:
    return any(isinstance(event, ModelResponse) and event.seq > after for event in case.events)
