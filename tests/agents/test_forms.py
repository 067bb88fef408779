"""Every form of a reply has its prompts, and asks for the keys that its reader reads."""

from __future__ import annotations

from typing import get_args

import pytest

from fieldmark.agents.forms import FORMS, read_tags
from fieldmark.agents.messages import prompt_text
from fieldmark.five_keys import is_short
from fieldmark.task import ReplyForm


def test_each_form_is_a_line_of_the_table() -> None:
    assert set(FORMS) == set(get_args(ReplyForm))


@pytest.mark.parametrize("name", FORMS)
def test_each_form_has_its_prompts(name: ReplyForm) -> None:
    form = FORMS[name]
    assert prompt_text(form.closed_book)
    assert prompt_text(form.external)


@pytest.mark.parametrize("prompt", [FORMS["pix2fact"].closed_book, FORMS["pix2fact"].external])
def test_pix2fact_asks_for_five_keys(prompt: str) -> None:
    text = prompt_text(prompt)
    keys = ("Observation", "Search Plan", "Search Query", "Comprehensive Answer", "Final Answer")
    assert all(f'"{key}"' in text for key in keys)
    assert is_short(keys[-1])
    assert "[NO_DEFINITIVE_ANSWER]" in text


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
    read = read_tags(text)
    assert (read.answer, read.parsed_by) == (answer, parsed_by)


def test_a_cut_reply_is_an_answer_in_this_form_and_none_in_ours() -> None:
    cut = "It has two engines and"
    assert read_tags(cut, truncated=True).answer == cut
    assert FORMS["json"].read(cut, truncated=True).answer == ""


def test_only_tags_asks_for_tags() -> None:
    assert [name for name, form in FORMS.items() if "<answer>" in prompt_text(form.closed_book)] == ["tags"]
