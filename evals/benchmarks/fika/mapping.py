"""Which key of a manifest is which field: said by the user, else told from the usual names.

FIKA-Bench does not publish its field names, so every choice made here is recorded in run.json.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.fika.manifest import ITEM_ID, LIST_NAME

REQUIRED = ("id", "image", "question", "answer")
USUAL = {
    "id": "id itemid sampleid exampleid taskid questionid qid uid uuid",
    "image": "image imagepath imagefile imagefilename imagename img imgpath picture photo filename filepath",
    "question": "question questiontext query prompt",
    "answer": "answer goldanswer referenceanswer reference groundtruth groundtruthanswer gold gt"
    " correctanswer canonicalanswer standardanswer expectedanswer finalanswer answertext answers",
    "aliases": "aliases alias acceptedaliases answeraliases acceptedanswers acceptableanswers"
    " alternativeanswers alternatives synonyms",
    "finer": "finer",
    "broader": "broader",
    "match": "match",
    "evidence": "evidence evidenceurls evidenceurl evidencelinks evidencelink evidences urls url links"
    " sourceurls sourceurl",
    "split": "split subset partition datasplit",
    "top": "topcategory toplevelcategory toplevel top category1 categorylevel1 level1 l1 l1category"
    " categoryl1 categorytop maincategory primarycategory coarsecategory category",
    "mid": "midcategory midlevelcategory midlevel mid category2 categorylevel2 level2 l2 l2category"
    " categoryl2 categorymid subcategory secondarycategory",
    "source": "source sourcedataset dataset origin",
    "language": "language lang locale questionlanguage",
}
"""Field → names that are taken for it, the surest first; signs and case do not matter."""
LABELS = ("top", "mid", "split")
"""Fields that may stand in two columns, one a language: the English one is taken."""

_WRAPPERS = ("gold", "label", "labels", "meta", "metadata", "annotation", "annotations")
"""Objects whose keys count as if they stood beside them."""


def map_keys(keys: Sequence[str], said: Mapping[str, str], name: str) -> dict[str, str]:
    """Field → key. UsageError with the keys found when a required one is missing or `said` cannot be."""
    for field, key in said.items():
        _check_said(field, key, keys, name)
    free = [key for key in keys if key not in said.values()]
    mapping = {field: said.get(field) or _usual(field, free) for field in USUAL}
    mapping["id"] = mapping["id"] or (ITEM_ID if ITEM_ID in keys else None)
    mapping["split"] = mapping["split"] or (LIST_NAME if LIST_NAME in keys else None)
    lacking = [field for field in REQUIRED if not mapping[field]]
    if lacking:
        told = ", ".join(f"{field}={key}" for field, key in mapping.items() if key) or "nothing"
        raise UsageError(
            f"{name}: no key could be mapped to {', '.join(lacking)}; the keys found are {', '.join(keys)}; "
            f"mapped was {told}: say which it is, such as --map {lacking[0]}=KEY"
        )
    return {field: key for field, key in mapping.items() if key}


def _check_said(field: str, key: str, keys: Sequence[str], name: str) -> None:
    if field not in USUAL:
        raise UsageError(
            f"--map {field}={key}: there is no field {field!r}; the fields are {', '.join(USUAL)}"
        )
    if key not in keys:
        close = difflib.get_close_matches(key, keys, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(
            f"--map {field}={key}: {name} has no key {key!r}{hint}; the keys found are {', '.join(keys)}"
        )


def _usual(field: str, keys: Sequence[str]) -> str | None:
    """The key with the surest of the usual names."""
    endings = ("", "en", "english", "zh", "cn", "chinese") if field in LABELS else ("",)
    for usual in USUAL[field].split():
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
