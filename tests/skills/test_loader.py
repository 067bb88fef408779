"""SKILL.md folders: what loads, and what each bad one is told."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fieldmark.errors import ToolError, UsageError
from fieldmark.skills.loader import load_folder, load_skill
from fieldmark.skills.skill import Skill, read_from

GOOD = "---\nname: {name}\ndescription: Does this. Use it then.\n---\n\n# Title\n\nDo it.\n"


def write(root: Path, name: str, text: str = GOOD, /, **files: str | bytes) -> Path:
    """A skill folder; `{name}` in its text is filled in."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text.replace("{name}", name), encoding="utf-8")
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def only(folder: Path) -> Skill:
    (skill,) = load_folder(folder)
    return skill


def test_a_skill_and_a_folder_of_skills(tmp_path: Path) -> None:
    write(tmp_path, "b-skill")
    folder = write(tmp_path, "a-skill", **{"references/t.md": "table", "scripts/run.sh": "true"})
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("not a skill")
    assert [skill.name for skill in load_folder(tmp_path)] == ["a-skill", "b-skill"]
    skill = only(folder)
    assert skill.description == "Does this. Use it then."
    assert skill.body == "# Title\n\nDo it.\n"
    assert skill.files == ["SKILL.md", "references/t.md", "scripts/run.sh"]
    assert skill.folder == folder.resolve()


def test_the_hash_is_what_a_shell_computes_and_changes_with_any_file(tmp_path: Path) -> None:
    folder = write(tmp_path, "a", **{"references/t.md": "table"})
    line = "LC_ALL=C sha256sum SKILL.md references/t.md | sha256sum"
    shell = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=True)
    before = only(folder).sha256
    assert before == shell.stdout.split()[0]
    (folder / ".hidden").write_text("passed over")
    assert only(folder).sha256 == before
    (folder / "references" / "t.md").write_text("tables")
    assert only(folder).sha256 != before


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("allowed-tools: ocr", ["ocr"]),
        ("allowed-tools: a_tool, b_tool", ["a_tool", "b_tool"]),
        ("allowed-tools: Bash(git add:*) Read, a_tool", ["Bash(git add:*)", "Read", "a_tool"]),
        ("allowed-tools: [a_tool, b_tool, a_tool]", ["a_tool", "b_tool"]),
        ("allowed-tools:\n  - a_tool\n  - b_tool", ["a_tool", "b_tool"]),
        ("allowed-tools:", []),
        ("license: MIT\nmetadata: {author: me}\ncompatibility: any", []),
        ("model: of-another-agent", []),
    ],
)
def test_optional_fields(tmp_path: Path, written: str, tools: list[str]) -> None:
    folder = write(tmp_path, "a", GOOD.replace("\n---\n\n", f"\n{written}\n---\n\n"))
    assert only(folder).allowed_tools == tools


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    folder = write(tmp_path, "a")
    folder.joinpath("SKILL.md").write_bytes(
        b"\xef\xbb\xbf" + GOOD.format(name="a").replace("\n", "\r\n").encode()
    )
    assert only(folder).body == "# Title\n\nDo it.\n"


def front(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", "Do it.", ""])


D = "description: d"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Title\n", "no front matter"),
        ("", "no front matter"),
        ("---\nname: a\ndescription: d\n\nDo it.\n", "no front matter"),
        (front(), "has no fields"),
        (front("- name"), "has no fields"),
        (front("name: a", "description: read: then look"), "line 3: .*quote values that hold a colon"),
        (front("name: a", "description: 'open"), "not valid YAML"),
        (front("name: a", D, "x: !!python/object/apply:os.system [true]"), "not valid YAML"),
        (front("name: a", D, "x: 2026-13-45"), "not valid YAML"),
        (front("name: a", D, f"x: {'[' * 5000}"), "not valid YAML"),
        (front("name: a", D, f"x: {'y' * 20_000}"), "more than 16000 characters"),
        (front(D), "no name: add `name: a`"),
        (front("name: 12", D), "name is not a text"),
        (front("name: b", D), "is not that of its folder, 'a'"),
        (front("name: A-Skill", D), "use a-z, 0-9 and single hyphens"),
        (front("name: a--b", D), "use a-z"),
        (front("name: -a", D), "use a-z"),
        (front("name: ../a", D), "use a-z"),
        (front(f"name: {'a' * 65}", D), "at most 64"),
        (front("name: all", D), "a word of --skills"),
        (front("name: a"), "no description"),
        (front("name: a", "description: ' '"), "no description"),
        (front("name: a", "description: [d]"), "no description"),
        (front("name: a", f"description: {'d' * 1025}"), "1025 characters: shorten it to 1024"),
        (front("name: a", D, "allowed-tools: {a: b}"), "neither a text nor a list"),
        (front("name: a", D, "allowed-tools: [1]"), "neither a text nor a list"),
        (front("name: a", D, "allowed-tools: ocr answer"), "answer does not depend on a skill"),
        (
            front("name: a", D, "allowed_tools: ocr"),
            "unknown field 'allowed_tools': did you mean allowed-tools",
        ),
        (front("name: a", D, "license: [MIT]"), "license is not a text"),
        (front("name: a", D, "metadata: text"), "metadata is not a mapping"),
        ("---\nname: a\ndescription: d\n---\n\n \n", "the body is empty"),
    ],
)
def test_each_bad_manifest_is_told_what_to_mend(tmp_path: Path, text: str, says: str) -> None:
    folder = write(tmp_path, "a", text)
    with pytest.raises(UsageError, match=says) as refused:
        load_folder(folder)
    assert str(refused.value).startswith(str(folder / "SKILL.md"))
    assert "\n" not in str(refused.value)


def test_all_problems_are_told_by_check_and_the_first_by_loading(tmp_path: Path) -> None:
    folder = write(tmp_path, "a", front("name: B", "license: [x]"))
    problems = load_skill(folder, folder)
    assert isinstance(problems, list)
    assert len(problems) == 3
    with pytest.raises(UsageError, match=r"and 2 more: fieldmark skills check"):
        load_folder(folder)


def _link_out(folder: Path) -> None:
    folder.joinpath("passwd").symlink_to("/etc/passwd")


def _link_up(folder: Path) -> None:
    folder.joinpath("up.md").symlink_to("../outside.md")


def _link_folder_out(folder: Path) -> None:
    folder.joinpath("references").symlink_to("/etc")


def _link_manifest_out(folder: Path) -> None:
    (folder.parent / "other.md").write_text(GOOD.format(name="a"))
    folder.joinpath("SKILL.md").unlink()
    folder.joinpath("SKILL.md").symlink_to("../other.md")


def _broken_link(folder: Path) -> None:
    folder.joinpath("gone.md").symlink_to("nowhere.md")


def _link_to_itself(folder: Path) -> None:
    folder.joinpath("loop.md").symlink_to("loop.md")


def _linked_folder_inside(folder: Path) -> None:
    folder.joinpath("more").mkdir()
    folder.joinpath("again").symlink_to("more")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")


def _too_large(folder: Path) -> None:
    with (folder / "large.bin").open("wb") as file:
        file.truncate(1_000_001)


def _too_many(folder: Path) -> None:
    for number in range(201):
        (folder / f"{number}.md").touch()


def _not_utf8(folder: Path) -> None:
    (folder / "SKILL.md").write_bytes(b"---\nname: a\xff\n---\n")


def _name_not_utf8(folder: Path) -> None:
    Path(os.fsdecode(bytes(folder) + b"/\xff.md")).touch()


def _no_manifest(folder: Path) -> None:
    (folder / "SKILL.md").unlink()


def _lower_case(folder: Path) -> None:
    (folder / "SKILL.md").rename(folder / "skill.md")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_link_out, "passwd: a link that leaves the skill"),
        (_link_up, "up.md: a link that leaves the skill"),
        (_link_folder_out, "references: a link that leaves the skill"),
        (_link_manifest_out, "SKILL.md: a link that leaves the skill"),
        (_broken_link, "gone.md: not a plain file"),
        (_link_to_itself, "loop.md: not a plain file"),
        (_linked_folder_inside, "again: not a plain file"),
        (_pipe, "pipe.md: not a plain file"),
        (_too_large, "more than 1 MB"),
        (_too_many, "200 files"),
        (_not_utf8, "SKILL.md: not UTF-8 at byte 11"),
        (_name_not_utf8, "the file name is not UTF-8"),
        (_no_manifest, "no SKILL.md: add one"),
        (_lower_case, "skill.md: rename it to SKILL.md"),
    ],
)
def test_each_bad_folder_is_told_what_to_mend(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    spoil(write(tmp_path / "skills", "a"))
    with pytest.raises(UsageError, match=says) as refused:
        load_folder(tmp_path / "skills")
    assert "\n" not in str(refused.value)


def test_a_link_to_a_skill_elsewhere_is_refused_but_the_named_folder_may_be_one(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "a")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a").symlink_to("../elsewhere/a")
    with pytest.raises(UsageError, match="a link that leaves"):
        load_folder(tmp_path / "skills")
    (tmp_path / "linked").symlink_to("elsewhere")
    assert [skill.name for skill in load_folder(tmp_path / "linked")] == ["a"]


@pytest.mark.parametrize(("make", "says"), [(True, "holds no skill"), (False, "cannot read")])
def test_a_folder_without_skills(tmp_path: Path, make: bool, says: str) -> None:
    if make:
        (tmp_path / "x").mkdir()
    with pytest.raises(UsageError, match=says):
        load_folder(tmp_path / "x")


def test_reading_a_file_of_a_skill(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"references/t.md": "table", "logo.png": b"\x89PNG\xff"}
    folder = write(tmp_path, "a", **files)
    skills = load_folder(tmp_path)
    (folder / "references" / "t.md").write_text("changed after loading")
    assert read_from(skills, "a")["text"] == "# Title\n\nDo it.\n"
    assert read_from(skills, "a", "references/t.md")["text"] == "table"
    for name, file, says in [
        ("b", "SKILL.md", "the skills are: a"),
        ("a", "../a/SKILL.md", "its files: SKILL.md, logo.png, references/t.md"),
        ("a", "/etc/passwd", "has no file"),
        ("a", "logo.png", "is not a text"),
    ]:
        with pytest.raises(ToolError, match=says):
            read_from(skills, name, file)
    with pytest.raises(ToolError, match="none in this episode"):
        read_from([], "a")
