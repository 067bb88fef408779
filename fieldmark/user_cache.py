"""Where what can be made anew is kept, by the user who made it."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache(part: str) -> Path:
    """`$XDG_CACHE_HOME/fieldmark/<part>`, else below `~/.cache`; it need not be there yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fieldmark" / part
