"""The grammar of --tools and --skills, and which tools are offered with which skills on."""

from __future__ import annotations

import pytest

from fieldmark.errors import UsageError
from fieldmark.selection import offered_tools, select

KNOWN = ["answer", "browser", "crop_zoom", "ocr", "web_search"]
BASE = ["answer", "crop_zoom", "ocr"]


@pytest.mark.parametrize(
    ("spec", "on"),
    [
        ("none", []),
        ("all", KNOWN),
        ("base", BASE),
        ("ocr,answer", ["answer", "ocr"]),
        ("ocr, answer ,", ["answer", "ocr"]),
        ("all,-ocr", ["answer", "browser", "crop_zoom", "web_search"]),
        ("all,-ocr,-browser", ["answer", "crop_zoom", "web_search"]),
        ("base,+web_search", ["answer", "crop_zoom", "ocr", "web_search"]),
        ("base,+web_search,-ocr", ["answer", "crop_zoom", "web_search"]),
        ("base,web_search", ["answer", "crop_zoom", "ocr", "web_search"]),
        ("+browser", ["answer", "browser", "crop_zoom", "ocr"]),
        ("-ocr", ["answer", "crop_zoom"]),
        ("none,+ocr", ["ocr"]),
        ("all,-ocr,+ocr", KNOWN),
        ("ocr,ocr", ["ocr"]),
        ("base,-browser", BASE),
    ],
)
def test_what_a_spec_has_on(spec: str, on: list[str]) -> None:
    assert select(spec.split(","), KNOWN, BASE, "tool") == on


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "no tools named"),
        (" , ", "no tools named"),
        (
            "crop-zoom",
            r"unknown tool 'crop-zoom' \(did you mean crop_zoom\?\): the tools are answer, browser",
        ),
        ("all,-orc", "did you mean ocr"),
        ("base,+x", "unknown tool 'x': the tools are"),
        ("all,-", "unknown tool ''"),
        ("All", "unknown tool 'All'"),
        ("ocr,all", "all stands first"),
        ("ocr,none", "none stands first"),
        ("all,base", "base stands first"),
        ("none,ocr", r"after none write \+NAME"),
    ],
)
def test_a_spec_that_cannot_be_meant_is_refused_in_one_line(spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        select(spec.split(","), KNOWN, BASE, "tool")
    assert "\n" not in str(refused.value)


def test_a_skill_written_with_underscores_is_recognised() -> None:
    with pytest.raises(UsageError, match="did you mean zoom-and-read"):
        select(["zoom_and_read"], ["food", "zoom-and-read"], [], "skill")


TOOLS = ["aircraft_registry", "answer", "ocr", "read_skill", "web_search"]
CARRIED = {"aircraft": ["aircraft_registry"], "research": ["web_search", "aircraft_registry"], "food": []}


@pytest.mark.parametrize(
    ("skills_on", "offered"),
    [
        (["aircraft", "food", "research"], TOOLS),
        (["research"], TOOLS),
        (["aircraft"], ["aircraft_registry", "answer", "ocr", "read_skill"]),
        (["food"], ["answer", "ocr", "read_skill"]),
        ([], ["answer", "ocr"]),
    ],
)
def test_a_carried_tool_is_offered_only_with_a_skill_that_carries_it(
    skills_on: list[str], offered: list[str]
) -> None:
    assert offered_tools(TOOLS, CARRIED, skills_on) == offered


def test_a_tool_that_is_not_there_is_not_offered_because_a_skill_carries_it() -> None:
    assert offered_tools(["ocr"], CARRIED, ["aircraft"]) == ["ocr"]


def test_no_skill_takes_the_answer_away() -> None:
    assert offered_tools(["answer"], {"greedy": ["answer"]}, []) == ["answer"]
