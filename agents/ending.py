"""From a model's last reply to the agent's answer, or to the reason why there is none."""

from __future__ import annotations

from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.parsing import Parsed, Read, only_calls, parse_answer
from fieldmark.agents.reply import Reply


def answer_from(reply: Reply, read: Read = parse_answer) -> AgentAnswer:
    """The answer that `read` finds in a reply's text, empty when the model said nothing. Raises AgentStopped
    where an empty one has a cause that the user can cure.
    """
    parsed = read(reply.text, truncated=reply.truncated)
    stop = None if parsed.answer else why_empty(reply)
    if stop:
        raise stop
    return as_answer(parsed, reply.text)


def as_answer(parsed: Parsed, raw: str) -> AgentAnswer:
    return AgentAnswer(
        parsed.answer, parsed.confidence, parsed.rationale, raw=raw, parsed_by=parsed.parsed_by
    )


def why_empty(reply: Reply) -> AgentStopped | None:
    """The class of a reply without an answer. Reasoning is never taken for the answer."""
    if reply.truncated:
        return AgentStopped(
            "truncated",
            "the reply was cut at the model's token limit (finish_reason length) before an answer: raise it",
        )
    if reply.refusal or reply.finish == "content_filter":
        why = reply.refusal or "its server's filter (finish_reason content_filter) held the reply back"
        return AgentStopped("refused", f"the model gave no answer: {why}"[:300])
    if only_calls(reply.text):
        return AgentStopped(
            "tool_call_malformed",
            "the reply holds a tool call as text: switch on the tool parser of the model's server",
        )
    if reply.reasoning and not reply.text:
        return AgentStopped(
            "reasoning_only",
            "the reply has text in its reasoning field only: check the server's reasoning parser",
        )
    return None
