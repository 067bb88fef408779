"""`fieldmark skills list` and `check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fieldmark.commands.skills import command
from fieldmark.skills.loader import bundled
from tests.skills.test_loader import GOOD, write


def skills(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(item) for item in arguments], standalone_mode=False)


def test_list_as_json_is_a_list() -> None:
    rows = json.loads(skills("list", "--json").stdout)
    assert [row["name"] for row in rows] == [skill.name for skill in bundled()]
    assert all(set(row) == {"name", "description", "allowed_tools"} for row in rows)


def test_list_says_what_each_carries() -> None:
    assert "aircraft-registration (carries aircraft_registry)\n" in skills("list").stdout


def test_list_of_a_folder_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path, "mine")
    assert skills("list", tmp_path).stdout == "mine\n    Does this. Use it then.\n"


def test_the_bundled_ones_pass() -> None:
    done = skills("check")
    assert done.return_value == 0
    assert done.stdout.splitlines() == [f"PASS  {skill.name}" for skill in bundled()]


def test_check_goes_on_after_a_failure(tmp_path: Path) -> None:
    write(tmp_path, "a", "no front matter")
    text = GOOD.replace("\n---\n\n", "\nallowed-tools: crop-zoom Bash\n---\n\n")
    links = "[x](references/x.md) [y](../a/SKILL.md) [z](#top) [w](https://example.org) `[v](v.md)`\n"
    write(tmp_path, "b", text + links)
    write(
        tmp_path, "c", GOOD + "[x](references/x%20y.md#top) [all](references)", **{"references/x y.md": "x"}
    )
    (tmp_path / "d").symlink_to("/etc")
    done = skills("check", tmp_path)
    assert done.return_value == 1
    lines = done.stdout.splitlines()
    assert [line[:4] for line in lines] == ["FAIL", "FAIL", "FAIL", "FAIL", "PASS", "FAIL"]
    assert lines[1].startswith(f"FAIL  {tmp_path}/b/SKILL.md: links to references/x.md, which is not there")
    assert "links to ../a/SKILL.md" in lines[2]
    assert "unknown tool 'crop-zoom': did you mean crop_zoom?" in lines[3]
    assert lines[5].endswith("put a copy in its place")


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["check", "--help"]])
def test_each_shows_an_example(arguments: list[str]) -> None:
    assert "\n  fieldmark skills" in skills(*arguments).stdout
