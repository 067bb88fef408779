"""Plug-ins are found by their file: one file in a folder, which assigns one marked name.

`agents/react.py` holds `AGENT = …`, `tools/ocr.py` holds `TOOL = …`, `evals/judges/exact.py` holds
`JUDGE = …`. Listing the names reads files and imports nothing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError


@cache
def names(package: str, marker: str) -> tuple[str, ...]:
    """Sorted names of the modules of `package` that assign `marker` at top level."""
    assigns = re.compile(rf"^{marker}\b.*=", re.MULTILINE)
    sources = Path(str(importlib.import_module(package).__file__)).parent.glob("*.py")
    return tuple(sorted(s.stem for s in sources if assigns.search(s.read_text(encoding="utf-8"))))


def load(package: str, marker: str, name: str, beside: Sequence[str] = (), *, hyphens: bool = False) -> Any:
    """The plug-in called `name`; a UsageError that lists the known ones, and those `beside` them, and says
    how to add one. `hyphens`: a name has `-` where that of its file has `_`.
    """
    named = {each.replace("_", "-") if hyphens else each: each for each in names(package, marker)}
    if name not in named:
        import difflib

        known = sorted({*named, *beside})
        noun, folder = marker.lower(), package.removeprefix("fieldmark.").replace(".", "/")
        close = difflib.get_close_matches(name, known, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(
            f"unknown {noun} {name!r}{hint}: the {noun}s are {', '.join(known)}; a file in {folder}/ adds one"
        )
    return getattr(importlib.import_module(f"{package}.{named[name]}"), marker)
