"""The judge `fine-r1`: which variant is the verdict, how it is called, what run.json keeps of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.evals.judges import get_judge
from fieldmark.evals.judges.base import FullJudge, Given
from fieldmark.judging import recording
from fieldmark.model_config import JudgeConfig
from fieldmark.task import Gold

CLOSED = Gold(answer="petunia", kind="flower", options=["mexican petunia", "petunia", "rose", "bellcap"])
OPEN = Gold(answer="petunia", kind="flower")
SIBLING = Given("mexican petunia", "<answer>mexican petunia</answer>")


def judge(**settings: Any) -> FullJudge:
    found = get_judge(JudgeConfig(name="fine-r1", **settings))
    assert isinstance(found, FullJudge)
    return found


def test_the_verdict_is_strict_where_options_were_offered_and_inclusion_where_none_were() -> None:
    found = judge()
    assert found.judge_given("?", CLOSED, SIBLING).label == "incorrect"
    assert found.judge_given("?", OPEN, SIBLING).label == "correct"
    assert found.judge_given("?", OPEN, Given(None, "petunia")).label == "incorrect"
    assert recording.describe(found) == {"fine-r1": {"closed": "closed-strict", "open": "text-inclusion"}}


def test_another_variant_is_another_judge_and_recorded() -> None:
    settings = JudgeConfig(name="fine-r1", variant="closed-official")
    found = judge(variant="closed-official")
    assert found.name == "fine-r1/closed-official"
    assert found.judge_given("?", CLOSED, SIBLING).label == "correct"
    kept = recording.publishable(settings, found)
    assert kept == {"name": "fine-r1", "variant": "closed-official"}
    assert JudgeConfig.model_validate(kept) == settings
    assert recording.publishable(JudgeConfig(name="fine-r1"), judge()) == "fine-r1"


def test_a_towers_folder_stays_private(tmp_path: Path) -> None:
    settings = JudgeConfig(name="fine-r1", variant="semantic", siglip=str(tmp_path), super_category="ours")
    found = judge(variant="semantic", siglip=str(tmp_path), super_category="ours")
    assert found.name.startswith("fine-r1/semantic/")
    assert found.name != judge(variant="semantic", siglip=str(tmp_path)).name
    assert recording.publishable(settings, found)["siglip"] == tmp_path.name
    assert recording.paths(settings)["judge"]["siglip"] == str(tmp_path)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"judge": "exact", "judge_variant": "card"}, "variant is for the judge fine-r1"),
        ({"judge": "fine-r1", "judge_votes": 3}, "votes is for a judge that is a model"),
        ({"judge": "fine-r1", "judge_variant": "card", "siglip": "x"}, "--judge-variant semantic"),
        ({"judge": "fine-r1", "judge_variant": "kind"}, "closed-strict"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(flags: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        load_config(None, flags)
