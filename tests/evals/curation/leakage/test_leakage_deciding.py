"""What hits say of a candidate: a doubt is a drop."""

from __future__ import annotations

import pytest

from fieldmark.evals.curation.leakage.deciding import Hit, decide
from fieldmark.evals.curation.settings import LeakageSettings

SETTINGS = LeakageSettings(copy_from=0.5, doubt_from=0.3)


def hit(score: float | None, *, gives: str | None = None, read: bool = True) -> Hit:
    page = "https://a.example/page"
    return Hit(query="lens", page=page, title="A bird", score=score, gives=gives, read=read)


@pytest.mark.parametrize(
    ("hits", "status", "verdict"),
    [
        ([], "clean", "keep"),
        ([hit(0.1, gives="the name stands there")], "clean", "keep"),
        ([hit(0.9)], "copied", "keep"),
        ([hit(0.9), hit(0.8, gives="the name stands there")], "leaked", "drop"),
        ([hit(None), hit(0.8, gives="the name stands there")], "leaked", "drop"),
        ([hit(0.9, read=False)], "undetermined", "drop"),
        ([hit(0.4)], "undetermined", "drop"),
        ([hit(None)], "undetermined", "drop"),
    ],
)
def test_each_status(hits: list[Hit], status: str, verdict: str) -> None:
    said = decide("c", hits, SETTINGS)
    assert (said.evidence["status"], said.verdict) == (status, verdict)


def test_another_threshold_needs_the_kept_hits_alone() -> None:
    kept = decide("c", [hit(0.4)], SETTINGS)
    again = [Hit.model_validate(row) for row in kept.evidence["hits"]]
    assert decide("c", again, LeakageSettings(copy_from=0.8, doubt_from=0.45)).verdict == "keep"
