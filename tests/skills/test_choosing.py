"""--skills: bundled ones by name, a user's own by folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.skills.choosing import choose
from fieldmark.skills.loader import bundled
from tests.skills.test_loader import write

BUNDLED = [skill.name for skill in bundled()]


def on(*spec: str, base: list[str] | None = None) -> list[str]:
    return [skill.name for skill in choose(spec, base)[0]]


def test_names_and_words() -> None:
    assert on("all") == on("base") == BUNDLED
    assert on("none") == []
    assert on("food", "mineral") == ["food", "mineral"]
    assert on("all", "-aircraft-registration") == [
        name for name in BUNDLED if name != "aircraft-registration"
    ]
    assert on("base", "+food", base=["mineral"]) == ["food", "mineral"]


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path, "mine")
    write(tmp_path, "yours")
    folder = str(tmp_path)
    assert on(folder) == ["mine", "yours"]
    assert on(folder, "+food") == ["food", "mine", "yours"]
    assert on(folder, "-mine") == ["yours"]
    assert on("none", folder) == ["mine", "yours"]
    assert (
        on("base", f"+{folder}", base=["food"])
        == on(f"+{folder}", base=["food"])
        == ["food", "mine", "yours"]
    )
    assert on("all", folder) == sorted([*BUNDLED, "mine", "yours"])
    known = [skill.name for skill in choose([folder])[1]]
    assert known == sorted([*BUNDLED, "mine", "yours"])


def test_ones_own_skill_takes_the_place_of_a_bundled_one(tmp_path: Path) -> None:
    folder = write(tmp_path, "food")
    chosen, known = choose(["all", str(folder)])
    assert [skill.name for skill in chosen] == [skill.name for skill in known] == BUNDLED
    assert next(skill for skill in chosen if skill.name == "food").folder == folder.resolve()


def test_what_cannot_be_meant_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "one", "mine")
    write(tmp_path / "two", "mine")
    monkeypatch.chdir(tmp_path)
    for spec, says in [
        (["./one", "./two"], "two folders hold a skill mine"),
        (["one"], r"for the folder of that name write \./one"),
        (["foods"], "did you mean food"),
        (["./none"], "cannot read none"),
        ([], "no skills named"),
    ]:
        with pytest.raises(UsageError, match=says):
            choose(spec)
    assert on("./one") == ["mine"]
