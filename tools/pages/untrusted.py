"""Text that strangers wrote, marked so that it cannot pass for anyone else's, whatever it holds."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_JOINERS = "\u200c\u200d"
"""The only invisible characters that stay: scripts need them."""
_TAG = re.compile(
    rf"[<＜﹤‹〈](?=[\s{_JOINERS}/／]*" + rf"[{_JOINERS}]*".join("untrusted") + ")", re.IGNORECASE
)
_SOURCE = 500  # characters of a URL that are shown


def untrusted(text: str, source: str) -> str:
    """`<untrusted source=URL>…</untrusted>`; such tags inside `text` lose their bracket."""
    return f"<untrusted source={_attribute(source)}>\n{defused(text)}\n</untrusted>"


def defused(text: str) -> str:
    """Text for a place outside such marks: visible, and unable to forge one."""
    return _TAG.sub("&lt;", visible(text))


def defused_row(row: dict[str, Any]) -> dict[str, Any]:
    """The texts of data, which stand outside such marks: they may at least not forge one."""
    return {name: defused(value) if isinstance(value, str) else value for name, value in row.items()}


def visible(text: str) -> str:
    """Without control and format characters (turned text, tags of plane 14) that a reader would not see."""
    return "".join(char for char in text if char in "\n\t" or char in _JOINERS or not _unseen(char))


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co")


def _attribute(source: str) -> str:
    """A URL that cannot end its tag: brackets, quotes and blanks are percent-encoded."""
    return re.sub(r"[\s<>\"'`]", lambda found: f"%{ord(found[0]):02X}", visible(source))[:_SOURCE]
