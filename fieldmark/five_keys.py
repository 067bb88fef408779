"""The object that Pix2Fact asks for: observation, search plan, search query, a full answer and a short one.

Its prompt names the last two Full and Simple Answer in one place, Comprehensive and Final Answer in another
(arXiv 2602.00593, appendix B.1): both pairs count, whatever their case, spaces and signs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NO_ANSWER = "[NO_DEFINITIVE_ANSWER]"
"""The short answer of a model that could not determine any: an abstention."""
_SHORT = ("finalanswer", "simpleanswer")
_FULL = ("comprehensiveanswer", "fullanswer")


def short_answer(value: Mapping[str, Any]) -> Any:
    """What the object has for the short answer; None where it has no such key."""
    return _first(value, _SHORT)


def full_answer(value: Mapping[str, Any]) -> Any:
    """The same of the full answer."""
    return _first(value, _FULL)


def is_short(key: str) -> bool:
    """Whether a key is that of the short answer."""
    return _letters(key) in _SHORT


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    plain = {_letters(key): item for key, item in value.items()}
    return next((plain[name] for name in names if plain.get(name) is not None), None)


def _letters(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())
