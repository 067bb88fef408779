"""Aliases and evidence as manifests have them: a list, or one text with separators."""

from __future__ import annotations

import json
import re
from typing import Any

_SEPARATORS = re.compile(r"[|;；\n]")  # a comma or a slash can be part of a name
_URL = re.compile(r"https?://[^\s\"'<>|;；，、\\]+")


def texts(value: Any) -> Any:
    """A list of texts. What is neither a list nor a text comes back as it is, to be refused."""
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            loaded = json.loads(value, parse_int=str, parse_float=str)
        except ValueError:
            loaded = None
        if isinstance(loaded, list):
            return loaded
    return [part.strip() for part in _SEPARATORS.split(value) if part.strip()]


def links(value: Any) -> list[str]:
    """Every URL in a text, or in a list or object at any depth; without one, the texts themselves."""
    found = _URL.findall(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    plain = texts(value)
    if found or not isinstance(plain, list):
        return list(dict.fromkeys(link.rstrip(".,)]}") for link in found))
    return [item for item in plain if isinstance(item, str) and item.strip()]
