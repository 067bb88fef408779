"""Rules on what the agent did before it answered: they need no gold."""

from __future__ import annotations

from fieldmark.evals.failures.calls import LOOK_UPS
from fieldmark.evals.failures.case import Case, Decision
from fieldmark.findings import TraceFacts


def no_act(case: Case, facts: TraceFacts) -> Decision | None:
    """By the model or by the agent itself: nothing was looked at or looked up."""
    if case.calls or facts.acts:
        return None
    return Decision("no_acquisition", "an answer without a single act", events=case.answered)


def tools_failed(case: Case, facts: TraceFacts) -> Decision | None:
    """Nothing that was asked for came back: before all that blames the choice among results."""
    failed = tuple(call.seq for call in case.calls if call.ok is False)
    if not any(call.ok for call in case.calls) and (failed or facts.failed_acts):
        return Decision("tool_failure", "every act failed", events=failed)
    look_ups = [call for call in case.calls if call.action in LOOK_UPS]
    if look_ups and not case.searched and all(call.ok is False for call in look_ups):
        return Decision("tool_failure", "every look-up failed", events=tuple(call.seq for call in look_ups))
    return None


def never_saw(case: Case) -> Decision | None:
    """Whatever it found or answered, it cannot have been by the picture: before all that compares names."""
    if case.had_picture is not False:
        return None
    why = "the picture never reached it: in no model call, by no look, by no search"
    return Decision("visual_grounding", why, events=case.answered)
