"""SKILL.md folders from disk. Each problem is one line: the file, what is wrong, what to do."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.skills.manifest import read_manifest
from fieldmark.skills.skill import MANIFEST, Skill

MAX_BYTES = 1_000_000
MAX_FILES = 200
"""Of one skill."""


def bundled() -> list[Skill]:
    """The skills that come with fieldmark, sorted by name."""
    return load_folder(bundled_folder())


def bundled_folder() -> Path:
    """Where they are."""
    return Path(str(files("fieldmark.skills")))


def load_folder(folder: Path) -> list[Skill]:
    """The skills of a folder of skills, sorted by name, or the one skill that the folder is.

    UsageError with the first problem: no skill loads from a folder where one is broken.
    """
    skills = []
    for place in skill_folders(folder):
        loaded = load_skill(place, folder)
        if isinstance(loaded, list):
            more = f" (and {len(loaded) - 1} more: fieldmark skills check {folder})" if loaded[1:] else ""
            raise UsageError(loaded[0] + more)
        skills.append(loaded)
    return sorted(skills, key=lambda skill: skill.name)


def skill_folders(folder: Path) -> list[Path]:
    """The folders that are, or should be, a skill: `folder` itself, or each folder in it.

    Hidden folders and `__pycache__` are passed over. UsageError when there is none.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}; name a folder of skills") from None
    if any(entry.name.lower() == MANIFEST.lower() for entry in entries):
        return [folder]
    inside = [entry for entry in entries if entry.is_dir() and not _passed_over(entry.name)]
    if not inside:
        raise UsageError(f"{folder} holds no skill: name a folder with a {MANIFEST}, or one of such folders")
    return inside


def load_skill(folder: Path, given: Path) -> Skill | list[str]:
    """The skill in `folder`, which lies in the folder that was `given` or is it; or all that is wrong."""
    if not folder.resolve().is_relative_to(given.resolve()):
        return [f"{folder}: a link that leaves {given}: put a copy in its place"]
    contents = _contents(folder)
    if isinstance(contents, str):
        return [contents]
    manifest_path = folder / MANIFEST
    if MANIFEST not in contents:
        return [_no_manifest(folder, contents)]
    try:
        text = contents[MANIFEST].decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"{manifest_path}: not UTF-8 at byte {error.start}: save it as UTF-8"]
    manifest = read_manifest(text, Path(os.path.abspath(folder)).name)  # noqa: PTH100 (keeps links)
    if isinstance(manifest, list):
        return [f"{manifest_path}: {problem}" for problem in manifest]
    return Skill(
        manifest.name, manifest.description, manifest.body, manifest.allowed_tools, folder.resolve(), contents
    )


def _no_manifest(folder: Path, contents: dict[str, bytes]) -> str:
    alike = [path for path in contents if path.lower() == MANIFEST.lower()]
    if alike:
        return f"{folder / alike[0]}: rename it to {MANIFEST}"
    return f"{folder}: no {MANIFEST}: add one, or move the folder out"


def _contents(folder: Path) -> dict[str, bytes] | str:
    """The bytes of every file by its path, or why they are not taken."""
    found: dict[str, bytes] = {}
    size = 0
    root = folder.resolve()
    try:
        for path in _walk(folder):
            problem = _refused(path, root)
            if problem:
                return f"{path}: {problem}"
            size += path.stat().st_size
            if size > MAX_BYTES or len(found) == MAX_FILES:
                return f"{folder}: more than {MAX_BYTES // 1_000_000} MB or {MAX_FILES} files: take files out"
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    except OSError as error:
        return f"{error.filename or folder}: cannot be read ({error.strerror}): give read permission"
    return found


def _walk(folder: Path) -> Iterator[Path]:
    """Files and links, also links to folders (which are refused); hidden ones are passed over."""
    for here, names, others in os.walk(folder, onerror=_raise):
        names[:] = sorted(name for name in names if not _passed_over(name))
        linked = [name for name in names if (Path(here) / name).is_symlink()]
        for name in sorted([*others, *linked]):
            if not _passed_over(name):
                yield Path(here) / name


def _raise(error: OSError) -> None:
    raise error


def _passed_over(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def _refused(path: Path, root: Path) -> str | None:
    """Why a file is not taken: it is elsewhere, not a plain file, or its name is no text."""
    try:
        target = path.resolve()
    except RuntimeError:  # a link to itself
        target = path
    if not target.is_relative_to(root):
        return "a link that leaves the skill: put a copy in its place"
    if not path.exists() or not stat.S_ISREG(path.stat().st_mode):
        return "not a plain file (a broken link, a linked folder, a device): take it out"
    try:
        path.name.encode("utf-8")
    except UnicodeEncodeError:
        return "the file name is not UTF-8: rename it"
    return None
