"""Every form of a reply has its prompts, and asks for the keys that its reader reads."""

from __future__ import annotations

from typing import get_args

import pytest

from fieldmark.agents.forms import FORMS
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
