"""By what a model judges, classifies or types: its name in the records of a run holds a hash of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def sha256_of(text: str) -> str:
    """Of a prompt, as run.json has it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def name_of(kind: str, model: str | None, described: Mapping[str, Any]) -> str:
    """`KIND/MODEL/` and eight digits of a hash of `described`: another hash is another judge."""
    return f"{kind}/{model}/{sha256_of(json.dumps(described, sort_keys=True))[:8]}"
