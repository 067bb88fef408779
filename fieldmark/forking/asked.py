"""What a fork is asked to change, and what of it is wrong before anything is looked at."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.headers import picture_size

MAX_PICTURE = 20 * 2**20
"""Bytes of a picture of the user's own."""
_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp", b"GIF8": "image/gif"}


@dataclass(frozen=True)
class Asked:
    """One change. `what` is `arguments`, `result`, `picture` or `reply`; `text` is its value: JSON for
    arguments, `restore`, `original` or a file's name for a picture. `data` are the bytes of that file.
    """

    what: str
    text: str
    data: bytes = b""
    media_type: str = ""

    def describe(self) -> dict[str, Any]:
        """For run.json. A text of the user's own may quote gold, and stands in the trace: its hash only."""
        if self.what == "arguments":
            return {"what": self.what, "arguments": json.loads(self.text)}
        if self.what == "picture":
            named = "file" if self.data else self.text
            digest = {"sha256": hashlib.sha256(self.data).hexdigest()} if self.data else {}
            return {"what": self.what, "picture": named, **digest}
        return {"what": self.what, "sha256": hashlib.sha256(self.text.encode()).hexdigest()}


def one_of(given: dict[str, str | None]) -> Asked:
    """The one change that was given: option → its value. UsageError: none, or several, or a broken one."""
    named = {name: value for name, value in given.items() if value is not None}
    known = ", ".join(f"--{name}" for name in given)
    if len(named) != 1:
        got = " and ".join(f"--{name}" for name in named) or "none"
        raise UsageError(f"a fork changes one thing, {got} is given: name one of {known}")
    [(what, value)] = named.items()
    if what == "picture":
        return _picture(value)
    text = _read(Path(value[1:]), what).decode("utf-8", "replace") if value[:1] == "@" else value
    if what == "arguments":
        _check_arguments(text)
    return Asked(what, text)


def _check_arguments(text: str) -> None:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise UsageError('--arguments is not a JSON object: give all arguments of the call, as {"x1": 0, …}')


def _picture(value: str) -> Asked:
    if value in ("restore", "original"):
        return Asked("picture", value)
    if not value.startswith("@"):
        raise UsageError(f"--picture {value}: give restore, original, or @FILE, a picture")
    data = _read(Path(value[1:]), "picture")
    media_type = next((name for begin, name in _TYPES.items() if data.startswith(begin)), "")
    if not media_type or 0 in picture_size(data):
        raise UsageError(f"--picture {value}: this is no PNG, JPEG, WebP or GIF")
    if len(data) > MAX_PICTURE:
        raise UsageError(f"--picture {value}: over {MAX_PICTURE // 2**20} MB: make it smaller")
    return Asked("picture", value[1:], data, media_type)


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"--{what} @{path} cannot be read: {error.strerror}") from None
