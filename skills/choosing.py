"""Which skills a run knows and has on, from `--skills`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.selection import select
from fieldmark.skills.loader import bundled, load_folder
from fieldmark.skills.skill import Skill


def choose(spec: Sequence[str], base: Sequence[str] | None = None) -> tuple[list[Skill], list[Skill]]:
    """(skills on, skills known), each sorted by name; `base` is what is on when nothing is said, None: all.

    An entry with a `/`, or that begins with `.` or `~`, is a folder of the user's own and has its skills on;
    one of them takes the place of a bundled skill of the same name. `DIR,+a` adds a bundled one.
    """
    known = {skill.name: skill for skill in bundled()}
    standard = sorted(known) if base is None else list(base)
    own: dict[str, Skill] = {}
    names: list[str] = []
    for entry in (entry.strip() for entry in spec):
        if not is_folder(entry):
            names.append(entry)
            continue
        sign = "+" if names or entry[0] == "+" else ""
        for skill in load_folder(Path(entry.removeprefix("+")).expanduser()):
            if skill.name in own:
                raise UsageError(
                    f"two folders hold a skill {skill.name}: {own[skill.name].folder} and {skill.folder}; "
                    "name one of them"
                )
            own[skill.name] = skill
            names.append(sign + skill.name)
    known |= own
    _not_forgotten(names, known)
    on = set(select(names, sorted(known), standard, "skill"))
    return [known[name] for name in sorted(on)], [known[name] for name in sorted(known)]


def is_folder(entry: str) -> bool:
    """Whether an entry of `--skills` is a folder, not a name."""
    return "/" in entry or entry.removeprefix("+").startswith((".", "~"))


def _not_forgotten(names: Sequence[str], known: dict[str, Skill]) -> None:
    """A bare word that is a folder here was meant as one."""
    for name in names:
        if name and name not in known and name not in ("none", "all", "base") and Path(name).is_dir():
            raise UsageError(f"unknown skill {name!r}: for the folder of that name write ./{name}")
