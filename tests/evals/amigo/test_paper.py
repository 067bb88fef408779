"""The dialogues of the paper's figures 13 to 16."""

from __future__ import annotations

import pytest

from fieldmark.evals.amigo.agreement import inconsistent, with_paper
from fieldmark.evals.amigo.detector import LexiconDetector
from fieldmark.evals.amigo.lexicon import base_lexicon
from fieldmark.evals.amigo.paper import paper_tables
from fieldmark.evals.amigo.replay import Dialogue, dialogues, play

LEXICON = base_lexicon()
DETECTOR = LexiconDetector(LEXICON)


@pytest.mark.parametrize("dialogue", dialogues(), ids=lambda each: f"figure-{each.figure}")
def test_with_the_papers_skips_its_counts_and_outcomes_come_out(dialogue: Dialogue) -> None:
    record = play(dialogue)
    assert record.over is not None
    counted = {
        "turns": len(record.turns),
        "skips": sum(turn.reply == "Skip" for turn in record.turns),
        "premature": sum(upload.premature for upload in record.uploads),
        "outcome": record.over.outcome,
    }
    assert counted == dialogue.printed.model_dump()


def test_the_counts_are_those_of_the_figures() -> None:
    printed = {each.figure: each.printed for each in dialogues()}
    assert (printed[13].skips, printed[13].turns) == (4, 9)
    assert (printed[15].skips, printed[16].skips, printed[15].turns, printed[16].turns) == (10, 12, 20, 20)
    # Four questions stand before the end of uploading in figure 14, and two echoes of the signal before them.
    assert printed[14].premature == 4


def test_the_turns_that_no_consistent_detector_can_agree_on_are_named() -> None:
    found = [(each.figure, each.type, each.turns) for each in inconsistent(LEXICON, dialogues())]
    assert found == [(13, "hemline", [7, 9]), (15, "hemline", [13, 14, 15])]


def test_on_all_other_turns_the_lexicon_agrees_with_the_paper() -> None:
    found = with_paper(DETECTOR, LEXICON, dialogues())
    assert (found.skip.n, found.skip.raw.count, found.kind.raw.count) == (50, 47, 47)
    assert found.skip.kappa == pytest.approx(0.88, abs=0.005)
    differing = paper_tables(DETECTOR, LEXICON)[1]
    assert [(row[0], row[1]) for row in differing.rows] == [
        ("figure 13", "9"), ("figure 15", "14"), ("figure 15", "15")
    ]  # fmt: skip
    assert "figure 15, turns 13, 14, 15 (hemline)" in differing.note
