from __future__ import annotations

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.judges import get_judge


def test_exact_is_found_by_its_name() -> None:
    assert get_judge("exact").name == "exact"


def test_an_unknown_judge_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown judge 'gpt'.*exact"):
        get_judge("gpt")


def test_a_judge_is_called_as_it_is_written_on_the_command_line() -> None:
    assert get_judge("fine-r1").name == "fine-r1"
    with pytest.raises(UsageError, match=r"unknown judge 'fine_r1' \(did you mean fine-r1\?\).* fine-r1, "):
        get_judge("fine_r1")
