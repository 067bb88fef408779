"""Rows of a tasks.jsonl: every line becomes a Task or a problem that names its line.

A row holds the fields of `fieldmark.task.Task`. For small files of one's own it may also be flat:
`{"id", "question", "image", "answer", "aliases", "category", "split"}` and so on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fieldmark.errors import UsageError
from fieldmark.evals.judges.normalise import fold
from fieldmark.task import Gold, Labels, Task

NONE = "(none)"
SHOWN = 5
FLAT_GOLD = frozenset(Gold.model_fields) - {
    "source",
    "regions",
    "options",
    "kind",
}  # names that mean other things too: nested only
FLAT_LABELS = frozenset(Labels.model_fields) - {"source", "facets"}


@dataclass
class Rows:
    """What a file held. With `problems` it must not be used."""

    tasks: list[Task] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Bad(ValueError):
    """One line cannot be used; the message says why."""


def read_rows(path: Path) -> Rows:
    """Read a whole file. Pictures are relative to its folder and must stay inside it."""
    numbered, problems = decode_lines(path)
    rows = tasks_of(((f"line {number}", row) for number, row in numbered), path.parent)
    rows.problems = problems + rows.problems
    return rows


def refuse(name: str, problems: list[str]) -> None:
    """UsageError with the first problems of a file, in one line; nothing when there are none."""
    if not problems:
        return
    more = len(problems) - SHOWN
    shown = "; ".join(problems[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise UsageError(f"{name}: {count}: {shown}. Correct the file and load it again")


def decode_lines(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[str]]:
    """The objects of a JSON lines file with their line numbers, and a problem for each that is none."""
    found, problems = [], []
    for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            found.append((number, decode(raw)))
        except Bad as bad:
            problems.append(f"line {number}: {bad}")
    return found, problems


def tasks_of(numbered: Iterable[tuple[str, dict[str, Any]]], folder: Path) -> Rows:
    """Rows, each with where it stands ("line 3"), as tasks. Duplicate ids are a problem that names both."""
    rows = Rows()
    seen: dict[str, list[str]] = defaultdict(list)
    for where, row in numbered:
        name = str(row.get("id", ""))
        seen[name].append(where)
        try:
            rows.tasks.append(_task(row, folder, where, rows.warnings))
        except Bad as bad:
            rows.problems.append(f"{where}: {bad}" + (f" (id {name!r})" if name.strip() else ""))
    rows.problems += _duplicates(seen)
    rows.warnings += _case_twins(rows.tasks)
    return rows


def decode(raw: bytes) -> dict[str, Any]:
    """One JSON object. Numbers stay as they were written, so that an id of 1.10 is not 1.1."""
    try:
        row = json.loads(raw.decode(), parse_int=str, parse_float=str, parse_constant=str)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise Bad("not UTF-8") from None
    except UnicodeEncodeError:
        raise Bad("half a surrogate pair (\\ud800 to \\udfff) is no text") from None
    except json.JSONDecodeError as error:
        raise Bad(f"malformed JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise Bad("malformed JSON (nested too deeply)") from None
    if not isinstance(row, dict):
        raise Bad("not a JSON object")
    return row


def _task(row: dict[str, Any], folder: Path, where: str, warnings: list[str]) -> Task:
    row = _nested(row)
    _check_gold(row.get("gold"))
    for name in ("id", "question", "image"):
        if not isinstance(row.get(name), str) or not fold(row[name]):
            raise Bad(f"no {name}")
    if row.get("labels") is not None:
        row["labels"] = _labels(row["labels"], where, warnings)
    row["image"] = _inside(folder, row["image"])
    try:
        return Task.model_validate(row)
    except ValidationError as error:
        raise Bad(_reason(error)) from None


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Move the flat names into `gold` and `labels`."""
    flat = dict(row)
    if "category" in flat:
        flat.setdefault("top", flat.pop("category"))
    for group, names in (("gold", FLAT_GOLD), ("labels", FLAT_LABELS)):
        moved = {name: flat.pop(name) for name in names & flat.keys()}
        if moved and group in flat:
            raise Bad(f"{', '.join(sorted(moved))} stands both beside and inside {group!r}")
        if moved:
            flat[group] = moved
    return flat


def _check_gold(gold: Any) -> None:
    """A blank answer or alias, also one of invisible characters, would make every answer right."""
    answer = gold.get("answer") if isinstance(gold, dict) else None
    if not isinstance(answer, str) or not fold(answer):
        raise Bad("empty or missing reference answer")
    for name in ("aliases", "finer", "broader"):
        listed = gold.get(name) or []
        if not isinstance(listed, list):
            raise Bad(f"{name} is no list")
        for text in listed:
            if not isinstance(text, str) or not fold(text):
                raise Bad(f"empty entry in {name}")


def _labels(labels: Any, where: str, warnings: list[str]) -> dict[str, Any]:
    """A label that is missing, blank or a list counts as "(none)", so that no table loses its row."""
    if not isinstance(labels, dict):
        raise Bad("labels is not an object")
    clean: dict[str, Any] = {}
    for name, value in labels.items():
        if name == "facets":
            clean[name] = value
        elif isinstance(value, str) and value.strip():
            clean[name] = value.strip()
        elif name != "language":
            clean[name] = NONE
            if value not in (None, ""):
                warnings.append(f"{where}: {name} {value!r} is not one name: counted as {NONE}")
    return clean


def _inside(folder: Path, image: str) -> Path:
    """The absolute path of a picture, which need not exist but must not leave the folder."""
    root = folder.resolve()
    try:
        path = (root / image).resolve()
    except (OSError, ValueError, RuntimeError):
        raise Bad(f"unusable image path {image!r}") from None
    if ".." in Path(image).parts or not path.is_relative_to(root):
        raise Bad(f"image {image!r} is outside the folder of the benchmark")
    return path


def _reason(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(map(str, item["loc"]))
        unknown = item["type"] == "extra_forbidden"
        parts.append(f"unknown key {where}" if unknown else f"{where}: {item['msg']}")
    return ", ".join(parts)


def _duplicates(seen: dict[str, list[str]]) -> list[str]:
    return [
        f"id {name!r} stands on {_places(places)}"
        for name, places in seen.items()
        if name.strip() and len(places) > 1
    ]


def _places(places: list[str]) -> str:
    """`line 1`, `line 3` → `lines 1 and 3`."""
    noun = places[0].partition(" ")[0]
    return f"{noun}s {' and '.join(place.partition(' ')[2] for place in places)}"


def _case_twins(tasks: list[Task]) -> list[str]:
    """Names of a category that differ only in case are kept apart, and pointed out."""
    warnings = []
    for label in ("top", "mid", "split"):
        names = sorted({getattr(task.labels, label) for task in tasks})
        spellings: dict[str, list[str]] = defaultdict(list)
        for name in names:
            spellings[name.casefold()].append(name)
        twins = (group for group in spellings.values() if len(group) > 1)
        warnings += [f"{label}: {' and '.join(map(repr, group))} differ only in case" for group in twins]
    return warnings
