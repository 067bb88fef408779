"""How a reply is read in the form "tags"."""

from __future__ import annotations

import pytest

from fieldmark.agents.forms import FORMS, read_tags
from fieldmark.agents.messages import prompt_text
from fieldmark.agents.reply import Reply
from fieldmark.task import ReplyForm


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text, "", [], finish, {})


@pytest.mark.parametrize(
    ("text", "answer", "parsed_by"),
    [
        ("<think>wings</think><answer> Boeing 737-200 </answer>", "Boeing 737-200", "tag"),
        ('<answer>{"answer": "a"}</answer>', '{"answer": "a"}', "tag"),
        ("<think>wings</think>Boeing 737", "Boeing 737", "text"),
        ("<answer></answer>", "<answer></answer>", "text"),
        ("<think>only this", "<think>only this", "text"),
        ("", "", "empty"),
    ],
)
def test_without_tags_the_output_is_the_answer(text: str, answer: str, parsed_by: str) -> None:
    read = read_tags(reply(text))
    assert (read.answer, read.parsed_by) == (answer, parsed_by)


def test_a_cut_reply_is_an_answer_in_this_form_and_none_in_ours() -> None:
    cut = reply("It has two engines and", "length")
    assert read_tags(cut).answer == "It has two engines and"
    assert FORMS["json"][1](cut).answer == ""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_its_prompt(form: ReplyForm) -> None:
    assert ("<answer>" in prompt_text(FORMS[form][0])) == (form == "tags")
