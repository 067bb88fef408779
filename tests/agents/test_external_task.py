"""What an agent of others is asked, by the form of the reply."""

from __future__ import annotations

from pathlib import Path

from fieldmark.agents.external.agent import task_text
from fieldmark.task import Prompt, ReplyForm
from fieldmark.trace import Picture


def asked(reply: ReplyForm) -> str:
    picture = Picture(blob="b", media_type="image/png", width=800, height=600)
    prompt = Prompt(token="0", question="Which?", image=picture, view=picture, model="m", reply=reply)
    return task_text(prompt, Path("/workspace/picture.png"), [])


def test_json_is_asked_for_unless_the_protocol_wants_the_answer_alone() -> None:
    assert asked("json").endswith('"rationale": "what it rests on"}')
    plain = asked("plain")
    assert plain.endswith("nothing else.")
    assert '{"answer"' not in plain
    for text in (asked("json"), plain):
        assert "Question: Which?" in text
        assert "$" not in text
