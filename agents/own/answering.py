"""What an agent of the user's own returns, as its answer."""

from __future__ import annotations

from typing import Any

from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.ending import answer_from, as_answer
from fieldmark.agents.parsing import confidence, parse_answer
from fieldmark.agents.reply import Reply

_KEYS = ("answer", "text")
_FORMS = (
    'return a text, {"answer": …, "confidence": …, "rationale": …}, a reply of the model or an AgentAnswer'
)


def answer_of(said: Any, who: str) -> AgentAnswer:
    """The answer that `who` returned. TypeError for what is none; AgentStopped where there is none.

    A text is read as a model's last word is: `<answer>` tags, JSON or a line `Answer: …` in it count.
    """
    if isinstance(said, AgentAnswer):
        return said
    if isinstance(said, Reply):
        return answer_from(said)
    if isinstance(said, str):
        return as_answer(parse_answer(said), said)
    if isinstance(said, dict):
        return _from_object(said, who)
    if said is None:
        raise AgentStopped("empty", f"{who} returned None: {_FORMS}")
    raise TypeError(f"{who} returned {type(said).__name__}: {_FORMS}")


def _from_object(said: dict[str, Any], who: str) -> AgentAnswer:
    key = next((key for key in _KEYS if key in said), None)
    if key is None or not isinstance(said[key], str):
        raise TypeError(f"{who} returned an object without a text under 'answer': {_FORMS}")
    rationale = said.get("rationale")
    return AgentAnswer(
        said[key].strip(), confidence(said.get("confidence")), None if rationale is None else str(rationale)
    )
