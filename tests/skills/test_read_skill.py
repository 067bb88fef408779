"""The tool read_skill: the text, its pages, and the event that records it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.skills.loader import load_folder
from fieldmark.skills.skill import Skill, read_from
from fieldmark.tools.base import TEXT_CAP
from fieldmark.tools.calling import call_tool
from fieldmark.tools.read_skill import TOOL
from fieldmark.trace import SkillRead, parse_event
from tests.skills.test_loader import GOOD, write
from tests.tools.pictures import RecordingContext, png


class WithSkills(RecordingContext):
    """A recording context whose skills are those given."""

    def __init__(self, picture: Path, skills: list[Skill]) -> None:
        super().__init__(picture)
        self.skills = skills

    def skill(self, name: str, file: str = "SKILL.md") -> dict[str, Any]:
        return read_from(self.skills, name, file)


@pytest.fixture
def context(tmp_path: Path) -> WithSkills:
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(Image.new("RGB", (64, 64))))
    long = "".join(f"line {number} of a long table\n" for number in range(1000))
    write(
        tmp_path / "skills",
        "mine",
        GOOD,
        **{"references/long.md": long, "references/one-line.md": "x" * 9000},
    )
    write(tmp_path / "skills", "yours")
    return WithSkills(picture, load_folder(tmp_path / "skills"))


def test_the_body_and_the_event(context: WithSkills) -> None:
    result = call_tool(TOOL, {"name": "mine"}, context, door="graph")
    assert result.text == "Skill mine, SKILL.md:\n\n# Title\n\nDo it.\n"
    assert [kind for kind, _ in context.events] == ["tool_call", "skill_read", "tool_result"]
    event = parse_event({"seq": 0, "t": 0, "by": "sandbox", "kind": "skill_read", **context.events[1][1]})
    assert isinstance(event, SkillRead)
    assert (event.skill, event.file) == ("mine", "SKILL.md")
    assert event.sha256 == context.skill("mine")["sha256"]
    assert context.events[0][1]["action"] == "other"


@pytest.mark.parametrize("file", ["references/long.md", "./references/one-line.md"])
def test_the_pages_of_a_long_file_make_up_the_whole(context: WithSkills, file: str) -> None:
    text, page, pages = "", 1, 2
    while page <= pages:
        result = call_tool(TOOL, {"name": "mine", "file": file, "page": page}, context, door="graph")
        assert len(result.text) <= TEXT_CAP
        assert "truncated" not in result.for_model()
        pages = result.data["pages"]
        shown = result.text.partition("\n\n")[2]
        text += shown.removesuffix(f"\nIt goes on: call read_skill with page {page + 1}.")
        page += 1
    assert text == context.skill("mine", file.removeprefix("./"))["text"]


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"name": "other"}, "not_found", "there is no skill 'other'; the skills are: mine, yours"),
        ({"name": "mine", "file": "../yours/SKILL.md"}, "not_found", "its files: SKILL.md, references"),
        ({"name": "mine", "page": 2}, "invalid_args", "SKILL.md of mine has only 1"),
        ({}, "invalid_args", "name: missing. Expected arguments: name, file?, page?"),
    ],
)
def test_what_is_not_there(context: WithSkills, arguments: dict[str, Any], kind: str, says: str) -> None:
    result = call_tool(TOOL, arguments, context, door="graph")
    assert result.error_kind == kind
    assert says in (result.error or "")
    assert [name for name, _ in context.events] == ["tool_call", "tool_result"]
