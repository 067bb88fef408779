"""Which key of a manifest is which field: said by the user, else told from the usual names.

Every choice made here is recorded in run.json.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought.manifest import ITEM_ID, LIST_NAME


@dataclass(frozen=True)
class Fields:
    """What a benchmark reads. `usual`: field → names that are taken for it, the surest first; signs and case
    do not matter. `required`: fields without which there is no task. `two_languages`: fields that may stand
    in two columns, one a language: the English one is taken. `numbered`: fields that may stand in several
    columns (`evidence_url_1`, …): all are taken.
    """

    usual: Mapping[str, str]
    required: Sequence[str]
    two_languages: Sequence[str] = ()
    numbered: Sequence[str] = ()


JOINED = ", "
_WRAPPERS = ("gold", "label", "labels", "meta", "metadata", "annotation", "annotations")
"""Objects whose keys count as if they stood beside them."""


def map_keys(keys: Sequence[str], said: Mapping[str, str], name: str, fields: Fields) -> dict[str, str]:
    """Field → key of the manifest `name`, keys with ", " between them for a numbered field.

    UsageError with the keys found when a required one is missing or `said` cannot be.
    """
    for field, key in said.items():
        _check_said(field, key, keys, name, fields)
    free = [key for key in keys if key not in said.values()]
    mapping = {field: said.get(field) or _usual(field, free, fields) for field in fields.usual}
    mapping["id"] = mapping["id"] or (ITEM_ID if ITEM_ID in keys else None)
    if "split" in mapping:
        mapping["split"] = mapping["split"] or (LIST_NAME if LIST_NAME in keys else None)
    lacking = [field for field in fields.required if not mapping[field]]
    if lacking:
        told = ", ".join(f"{field}={key}" for field, key in mapping.items() if key) or "nothing"
        raise UsageError(
            f"{name}: no key could be mapped to {', '.join(lacking)}; the keys found are {', '.join(keys)}; "
            f"mapped was {told}: say which it is, such as --map {lacking[0]}=KEY"
        )
    return {field: key for field, key in mapping.items() if key}


def _check_said(field: str, key: str, keys: Sequence[str], name: str, fields: Fields) -> None:
    if field not in fields.usual:
        raise UsageError(
            f"--map {field}={key}: there is no field {field!r}; the fields are {', '.join(fields.usual)}"
        )
    if key not in keys:
        close = difflib.get_close_matches(key, keys, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(
            f"--map {field}={key}: {name} has no key {key!r}{hint}; the keys found are {', '.join(keys)}"
        )


def _usual(field: str, keys: Sequence[str], fields: Fields) -> str | None:
    """The key with the surest of the usual names."""
    endings = ("", "en", "english", "zh", "cn", "chinese") if field in fields.two_languages else ("",)
    for usual in fields.usual[field].split():
        if field in fields.numbered:
            several = [key for key in keys if re.fullmatch(rf"{usual}\d*", _plain(key))]
            if several:
                return JOINED.join(several)
        for ending in endings:
            found = next((key for key in keys if _plain(key) == usual + ending), None)
            if found:
                return found
    return None


def _plain(key: str) -> str:
    """`Gold.Answer` → `answer`, `image_path` → `imagepath`."""
    first, _, rest = key.partition(".")
    if rest and _letters(first) in _WRAPPERS:
        key = rest
    return _letters(key)


def _letters(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())
