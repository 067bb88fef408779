"""What a fork is asked to change, and what of it is refused before anything is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.forking.asked import Asked, one_of

NONE = dict.fromkeys(("arguments", "result", "picture", "reply"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "none is given: name one of --arguments, --result, --picture, --reply"),
        ({"result": "a", "reply": "b"}, "--result and --reply is given"),
        ({"arguments": "[1]"}, "--arguments is not a JSON object"),
        ({"picture": "bigger"}, "give restore, original, or @FILE"),
        ({"picture": "@nowhere.png"}, "--picture @nowhere.png cannot be read: No such file"),
    ],
)
def test_no_fork_without_one_whole_change(given: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        one_of({**NONE, **given})


def test_a_text_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("no text was found")
    asked = one_of({**NONE, "result": f"@{tmp_path}/told.txt"})
    assert asked == Asked("result", "no text was found")
    assert set(asked.describe()) == {"what", "sha256"}  # the text stands in the trace alone


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("no text was found")
    with pytest.raises(UsageError, match="this is no PNG, JPEG, WebP or GIF"):
        one_of({**NONE, "picture": f"@{tmp_path}/told.txt"})
