"""What an episode may do: notes in the prompt, recall, and notes that rest on results it really had."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.errors import ToolError
from fieldmark.memory.episode import AT_LEASE, MOST_NOTES, EpisodeMemory
from fieldmark.memory.notes import Note
from fieldmark.memory.retrieval import Stored
from fieldmark.memory.vectors import text_vector

RESULTS = {3: "ocr", 8: "aircraft_registry"}


def memory(*texts: str, **more: Any) -> EpisodeMemory:
    notes = [
        Stored(
            Note(id="other", note=f"n{at}", kind="operator", text=text, cites=[1]), text_vector(text), None
        )
        for at, text in enumerate(texts)
    ]
    return EpisodeMemory("task-1", 0, "Which aircraft is this?", notes, len(notes), **more)


def test_the_best_notes_stand_in_the_prompt_and_the_event_says_which() -> None:
    lines, event = memory(*(f"aircraft number {at}" for at in range(9)), "a mushroom").at_lease()
    assert len(lines) == AT_LEASE
    assert all(line.startswith("(operator) aircraft number") for line in lines)
    assert event["at"] == "lease"
    assert [hit["note"] for hit in event["hits"]] == ["n8", "n7", "n6", "n5", "n4"]
    assert (event["memory"]["known"], event["memory"]["notes"]) == (10, 10)


def test_nothing_that_an_agent_is_told_names_a_task() -> None:
    kept = memory("B-5506 is operated by Xiamen Airlines.")
    lines, _ = kept.at_lease()
    told, event = kept.recall("Xiamen", 5)
    assert "other" not in str((lines, told))
    assert told["found"]
    assert told["hits"][0].keys() == {"rank", "kind", "text", "score"}
    assert event["hits"][0]["note"] == "n0"
    assert kept.recall("mushrooms", 5)[0] == {"found": False, "hits": []}


def test_a_note_is_taken_with_its_sources() -> None:
    kept = memory()
    event = kept.remember("  The crane\nis Xiamen's. ", "visual_cue", [8, 3, 8], RESULTS)
    assert event["text"] == "The crane is Xiamen's."
    assert event["cites"] == [3, 8]
    assert event["about"] == "visual_cue"
    again = memory().remember("The crane is Xiamen's.", "visual_cue", [3], RESULTS)
    assert again["note"] == event["note"]  # the same place in the same episode: merged once
    assert kept.left == MOST_NOTES - 1


@pytest.mark.parametrize(
    ("text", "kind", "cites", "why"),
    [
        ("x", "family", [4], r"cites: 4 is no result .* can be cited: 3 \(ocr\), 8 \(aircraft_registry\)"),
        ("x", "family", [], "name 1 to 10 results"),
        ("x", "verdict", [3], "one of operator, family, visual_cue, look_alike"),
        (" ", "family", [3], "1 to 400 characters"),
        ("x" * 401, "family", [3], "not 401"),
    ],
)
def test_a_refused_note_says_why(text: str, kind: str, cites: list[int], why: str) -> None:
    with pytest.raises(ToolError, match=why) as refused:
        memory().remember(text, kind, cites, RESULTS)
    assert refused.value.kind == "invalid_args"


def test_an_episode_takes_few_notes_each_once_and_none_in_a_frozen_run() -> None:
    kept = memory()
    for number in range(MOST_NOTES):
        kept.remember(f"note {number}", "family", [3], RESULTS)
        with pytest.raises(ToolError, match="taken already"):
            kept.remember(f"note {number}", "family", [3], RESULTS)
    with pytest.raises(ToolError, match="at most 5 notes"):
        kept.remember("one more", "family", [3], RESULTS)
    with pytest.raises(ToolError, match="frozen"):
        memory(writes=False).remember("x", "family", [3], RESULTS)
    with pytest.raises(ToolError, match="use a tool first"):
        memory().remember("x", "family", [3], {})
