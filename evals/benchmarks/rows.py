"""Rows of a tasks.jsonl: every line becomes a Task or a problem that names its line.

A row holds the fields of `fieldmark.task.Task`. For small files of one's own it may also be flat:
`{"id", "question", "image", "answer", "aliases", "category", "split"}` and so on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fieldmark.evals.judges.normalise import fold
from fieldmark.task import Gold, Labels, Task

NONE = "(none)"
FLAT_GOLD = frozenset(Gold.model_fields) - {"source"}  # both Gold and Labels have a source: nested only
FLAT_LABELS = frozenset(Labels.model_fields) - {"source"}


@dataclass
class Rows:
    """What a file held. With `problems` it must not be used."""

    tasks: list[Task] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _Bad(ValueError):
    """One line cannot be used; the message says why."""


def read_rows(path: Path) -> Rows:
    """Read a whole file. Pictures are relative to its folder and must stay inside it."""
    rows = Rows()
    seen: dict[str, list[int]] = defaultdict(list)
    for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            row = _decode(raw)
            seen[str(row.get("id", ""))].append(number)
            rows.tasks.append(_task(row, path.parent, number, rows.warnings))
        except _Bad as bad:
            rows.problems.append(f"line {number}: {bad}")
    rows.problems += _duplicates(seen)
    rows.warnings += _case_twins(rows.tasks)
    return rows


def _decode(raw: bytes) -> dict[str, Any]:
    """One JSON object. Numbers stay as they were written, so that an id of 1.10 is not 1.1."""
    try:
        row = json.loads(raw.decode(), parse_int=str, parse_float=str, parse_constant=str)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise _Bad("not UTF-8") from None
    except UnicodeEncodeError:
        raise _Bad("half a surrogate pair (\\ud800 to \\udfff) is no text") from None
    except json.JSONDecodeError as error:
        raise _Bad(f"malformed JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise _Bad("malformed JSON (nested too deeply)") from None
    if not isinstance(row, dict):
        raise _Bad("not a JSON object")
    return row


def _task(row: dict[str, Any], folder: Path, number: int, warnings: list[str]) -> Task:
    row = _nested(row)
    _check_gold(row.get("gold"))
    for name in ("id", "question", "image"):
        if not isinstance(row.get(name), str) or not fold(row[name]):
            raise _Bad(f"no {name}")
    if row.get("labels") is not None:
        row["labels"] = _labels(row["labels"], number, warnings)
    row["image"] = _inside(folder, row["image"])
    try:
        return Task.model_validate(row)
    except ValidationError as error:
        raise _Bad(_reason(error)) from None


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Move the flat names into `gold` and `labels`."""
    flat = dict(row)
    if "category" in flat:
        flat.setdefault("top", flat.pop("category"))
    for group, names in (("gold", FLAT_GOLD), ("labels", FLAT_LABELS)):
        moved = {name: flat.pop(name) for name in names & flat.keys()}
        if moved and group in flat:
            raise _Bad(f"{', '.join(sorted(moved))} stands both beside and inside {group!r}")
        if moved:
            flat[group] = moved
    return flat


def _check_gold(gold: Any) -> None:
    """A blank answer or alias, also one of invisible characters, would make every answer right."""
    answer = gold.get("answer") if isinstance(gold, dict) else None
    if not isinstance(answer, str) or not fold(answer):
        raise _Bad("empty or missing reference answer")
    for name in ("aliases", "finer", "broader"):
        for text in gold.get(name) or []:
            if not isinstance(text, str) or not fold(text):
                raise _Bad(f"empty entry in {name}")


def _labels(labels: Any, number: int, warnings: list[str]) -> dict[str, Any]:
    """A label that is missing, blank or a list counts as "(none)", so that no table loses its row."""
    if not isinstance(labels, dict):
        raise _Bad("labels is not an object")
    clean: dict[str, Any] = {}
    for name, value in labels.items():
        if isinstance(value, str) and value.strip():
            clean[name] = value.strip()
        elif name != "language":
            clean[name] = NONE
            if value not in (None, ""):
                warnings.append(f"line {number}: {name} {value!r} is not one name: counted as {NONE}")
    return clean


def _inside(folder: Path, image: str) -> Path:
    """The absolute path of a picture, which need not exist but must not leave the folder."""
    root = folder.resolve()
    try:
        path = (root / image).resolve()
    except (OSError, ValueError, RuntimeError):
        raise _Bad(f"unusable image path {image!r}") from None
    if ".." in Path(image).parts or not path.is_relative_to(root):
        raise _Bad(f"image {image!r} is outside the folder of the benchmark")
    return path


def _reason(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(map(str, item["loc"]))
        unknown = item["type"] == "extra_forbidden"
        parts.append(f"unknown key {where}" if unknown else f"{where}: {item['msg']}")
    return ", ".join(parts)


def _duplicates(seen: dict[str, list[int]]) -> list[str]:
    return [
        f"id {name!r} stands on lines {' and '.join(map(str, numbers))}"
        for name, numbers in seen.items()
        if name.strip() and len(numbers) > 1
    ]


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
