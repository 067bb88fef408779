"""The skills that come with fieldmark: sound, short enough to be read at once, and with calls that work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fieldmark.skills.checking import links, problems
from fieldmark.skills.loader import bundled
from fieldmark.skills.skill import Skill
from fieldmark.tools.read_skill import PAGE
from fieldmark.tools.registry import get_tool, tool_names

SKILLS = bundled()
CALL = re.compile(r"`(?:fieldmark tool )?([a-z_]+) (?:--json ')?(\{[^`]*\})'?`")
each_skill = pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.name)


def test_they_are_those_of_the_readme() -> None:
    listed = re.findall(r"\]\(([a-z-]+)/SKILL\.md\)", (SKILLS[0].folder.parent / "README.md").read_text())
    assert sorted(listed) == [skill.name for skill in SKILLS]
    assert len(SKILLS) == 11


@each_skill
def test_it_passes_its_check(skill: Skill) -> None:
    assert problems(skill.folder, skill.folder, tool_names()) == []


@each_skill
def test_every_reference_is_linked_and_every_link_is_there(skill: Skill) -> None:
    assert set(links(skill, "SKILL.md")) == set(skill.files) - {"SKILL.md"}


@each_skill
def test_each_file_is_read_in_one_call(skill: Skill) -> None:
    assert all(len(skill.read(file)["text"]) <= PAGE for file in skill.files)
    assert 60 <= skill.body.count("\n") <= 150


@each_skill
def test_the_calls_it_shows_are_valid_calls(skill: Skill) -> None:
    calls = CALL.findall(skill.body)
    assert calls
    for name, arguments in calls:
        if name in tool_names():
            get_tool(name).args.model_validate(json.loads(" ".join(arguments.split())))


@each_skill
def test_it_says_when_to_use_it_and_when_to_stop(skill: Skill) -> None:
    headings = " ".join(re.findall(r"^## (.*)$", skill.body, re.MULTILINE)).lower()
    assert all(word in headings for word in ("when", "look", "compare", "stop"))
    assert "use " in skill.description.lower()


@each_skill
def test_its_tables_have_as_many_cells_in_each_row(skill: Skill) -> None:
    for file in skill.files:
        text = skill.read(file)["text"]
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
            assert len({row.count("|") for row in table.splitlines()}) == 1, table


def test_only_look_ups_are_carried() -> None:
    carried = {skill.name: skill.allowed_tools for skill in SKILLS if skill.allowed_tools}
    assert carried == {
        "aircraft-registration": ["aircraft_registry"],
        "reverse-image-search": ["reverse_image_search"],
    }


def test_nothing_but_skills_lies_in_the_folder() -> None:
    folders = {path.name for path in Path(SKILLS[0].folder.parent).iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == {skill.name for skill in SKILLS}
