"""A call by a name that is no tool's: recorded, never guessed at, and helped where it names a skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.skills.loader import load_folder
from fieldmark.task import SkillCalls, SkillCard
from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_by_name
from fieldmark.tools.offer import Offer
from fieldmark.tools.read_skill import PAGE
from tests.agents.scripted_gateway import CROP, make_prompt
from tests.skills.test_loader import GOOD, write
from tests.skills.test_read_skill import WithSkills
from tests.tools.pictures import png

TOOLS = ["crop_zoom", "ocr", "read_skill", "reverse_image_search", "answer"]


@pytest.fixture
def context(tmp_path: Path) -> WithSkills:
    """A picture, and two skills that are on; one is longer than a page."""
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(Image.new("RGB", (64, 64))))
    write(tmp_path / "skills", "museum-object")
    write(tmp_path / "skills", "reverse-image-search", GOOD + "More.\n" * PAGE)
    return WithSkills(picture, load_folder(tmp_path / "skills"))


def called(
    context: WithSkills,
    name: str,
    arguments: Any = None,
    *,
    tools: list[str] = TOOLS,
    mode: SkillCalls = "helpful",
) -> ToolResult:
    cards = [SkillCard(name=skill.name, description=skill.description) for skill in context.skills]
    offer = Offer.of(make_prompt(tools=tools, skills=cards, skill_calls=mode))
    return call_by_name(name, arguments or {}, offer, context, door="graph")


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("functions.crop_zoom", "crop_zoom"),
        ("functions.crop", "crop_zoom"),
        ("crop_zoom ", "crop_zoom"),
        ("crop ", "crop_zoom"),
        ("CropZoom", "crop_zoom"),
        ("fieldmark_crop_zoom", "crop_zoom"),
        ("mcp__fieldmark__crop_zoom", "crop_zoom"),
        ("fieldmark.ocr", "ocr"),
        ("reverse-image-search", "reverse_image_search"),
        ("image_search", "reverse_image_search"),
        ("google_lens", None),
        ("", None),
        ("机" * 100_000, None),
    ],
)
def test_4_16_the_tools_are_listed_the_closest_named_and_none_is_run(
    context: WithSkills, name: str, closest: str | None
) -> None:
    result = called(context, name, CROP, mode="strict")
    assert (result.ok, result.error_kind, result.pictures) == (False, "not_found", [])
    assert f"the tools are {', '.join(TOOLS)}" in result.text
    assert ("did you mean" in result.text) == (closest is not None)
    assert f"(did you mean {closest}?)" in result.text or closest is None
    assert len(result.text) < 500
    assert [kind for kind, _ in context.events] == ["tool_call", "tool_result"]


@pytest.mark.parametrize("arguments", ["{}{}", [1], {"anything": 1}])
def test_an_unknown_name_is_not_found_whatever_the_arguments(context: WithSkills, arguments: Any) -> None:
    assert called(context, "google_lens", arguments).error_kind == "not_found"
    assert context.events[0][1]["arguments"] == arguments


@pytest.mark.parametrize("name", ["museum-object", "museum_object"])
def test_a_skill_called_as_a_tool_gives_its_text_and_one_line_of_advice(
    context: WithSkills, name: str
) -> None:
    result = called(context, name, {"image": "picture.png"})
    assert (result.ok, result.error_kind) == (False, "not_found")
    assert result.text == (
        "Skill museum-object, SKILL.md:\n\n# Title\n\nDo it.\n\n"
        'museum-object is a skill, not a tool: next time read it with read_skill, {"name": "museum-object"}.'
    )
    assert [kind for kind, _ in context.events] == ["tool_call", "skill_read", "tool_result"]
    assert context.events[0][1]["name"] == name
    assert context.events[2][1]["error_kind"] == "not_found"


def test_of_a_long_skill_it_is_the_first_page_with_nothing_cut(context: WithSkills) -> None:
    text = called(context, "reverse-image-search").for_model()
    assert "call read_skill with page 2" in text
    assert text.endswith('"name": "reverse-image-search"}.')


def test_a_tool_comes_before_a_skill_that_is_spelled_alike(context: WithSkills) -> None:
    assert called(context, "reverse_image_search").error_kind == "unavailable"


@pytest.mark.parametrize(
    ("name", "tools", "mode"),
    [
        ("museum-object", TOOLS, "strict"),
        ("mineral", TOOLS, "helpful"),
        ("museum-object", ["crop_zoom", "answer"], "helpful"),
    ],
    ids=["strict", "a skill that is off", "read_skill taken away"],
)
def test_else_a_skills_name_is_one_like_any_other(
    context: WithSkills, name: str, tools: list[str], mode: SkillCalls
) -> None:
    result = called(context, name, tools=tools, mode=mode)
    assert result.text == f"Error (not_found): no tool named {name!r}; the tools are {', '.join(tools)}"
    assert [kind for kind, _ in context.events] == ["tool_call", "tool_result"]
