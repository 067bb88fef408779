"""What tools do, under the names that frameworks give them, and names of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.conversation.actions import Kind, load
from fieldmark.tools.registry import all_tools
from fieldmark.trace import Side


@pytest.mark.parametrize("prefix", ["", "mcp__fieldmark__", "fieldmark_", "fieldmark__", "fieldmark."])
def test_our_own_tools_have_their_own_action_behind_every_prefix(prefix: str) -> None:
    table = load()
    sides: dict[str, Side] = {
        "answer": "answer", "read_skill": "skill", "recall": "memory", "remember": "memory",
    }  # fmt: skip
    for tool in all_tools():
        kind = table.kind(prefix + tool.name)
        assert kind == Kind(tool.action, sides.get(tool.name)), tool.name


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("bash", {"command": "ls"}, "code_or_shell"),
        ("read", {"filePath": "/w/notes.md"}, "file"),
        ("read", {"filePath": "/workspace/picture.PNG"}, "image_inspection"),
        ("Read", {"file_path": "crop.jpg"}, "image_inspection"),
        ("webfetch", {"url": "https://x.example/a.png"}, "open_page"),
        ("zoom_image", {}, "crop_zoom"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "code_or_shell"),
        ("browser_navigate", {}, "browser"),
        ("something_new", {}, "other"),
        ("", None, "other"),
    ],
)
def test_tools_of_frameworks(name: str, arguments: Any, action: str) -> None:
    assert load().kind(name, arguments).action == action


def test_a_file_of_the_users_own_is_asked_first(tmp_path: Path) -> None:
    own = tmp_path / "actions.toml"
    own.write_text(
        'prefixes = ["plane-"]\n[actions]\nregistry = ["tail_*", "bash"]\n[sides]\nmemory = ["notes"]\n'
        '[wrappers]\nrun = { name = ["tool"], arguments = ["with"] }\n'
    )
    table = load(own)
    assert table.kind("plane-tail_number").action == "registry"
    assert table.kind("bash").action == "registry"
    assert table.kind("ocr").action == "ocr"
    assert table.kind("notes").side == "memory"
    assert table.unwrapped("run", {"tool": "ocr", "with": {"mode": "text"}}) == ("ocr", {"mode": "text"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[actions", "Expected"),
        ("actions = 3", "actions is a table"),
        ('[action]\nocr = ["x"]', "unknown key 'action': the keys are"),
        ('[actions]\nlooking = ["x"]', "no action 'looking': they are image_inspection"),
        ('[sides]\nskill = "x"', r"sides\.skill: give a list"),
        ('[wrappers]\nrun = "x"', r"wrappers\.run: give"),
        ('prefixes = ["("]', "no regular expression"),
        ("prefixes = 3", "no regular expression"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "actions.toml"
    own.write_text(text)
    with pytest.raises(UsageError, match=said):
        load(own)
