"""A request taken apart for the trace, and put together again to the byte.

Pictures become blobs: the text of a request keeps `blob:<sha256>` in place of a data URI
(`"data:image/png;base64,…"`, Chat Completions and Responses) or of the bytes of a base64 source (Messages).
What is left is stored message by message. Each taking-apart is checked: where it would not give the very
bytes back, the request is stored whole beside it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.sandbox.gateway.wire.common import Body, Format, compact
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.trace import ModelRequest

MAX_PICTURES = 1_000
"""Places of one request that are looked at; no model takes so many pictures."""
_START = re.compile(r'"(?:(?P<bare>data)"\s*:\s*"|data:(?P<type>image\\?/[\w.+-]+);base64,)')
_PLACE = re.compile(r'(?P<bare>"data"\s*:\s*)?"blob:(?P<blob>[0-9a-f]{64})"')
_NEAR = 400  # characters around the bytes of a base64 source, within which its object ends
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Bytes:
    """An encoded picture of a request; `blob` is its sha256."""

    data: bytes
    media_type: str
    blob: str


@dataclass
class Apart:
    """A request without its pictures: `text` is its own spelling, `pictures` are in order of appearance."""

    text: str
    pictures: list[Bytes] = field(default_factory=list)


def without_pictures(text: str) -> Apart:
    """Take the pictures out of the text of a request."""
    apart, pieces, at = Apart(text), [], 0
    for match in islice(_START.finditer(text), MAX_PICTURES):
        start, end = match.end(), text.find('"', match.end())
        media_type = _source_type(text, match, end) if match["bare"] else _unescaped(match["type"])
        is_string = match.start() >= at and text[match.start() - 1] != "\\"  # not inside another one
        data = _decoded(text[start:end]) if media_type and is_string else None
        if not data or media_type is None:
            continue
        picture = Bytes(data, media_type, hashlib.sha256(data).hexdigest())
        pieces += [text[at : start if match["bare"] else match.start() + 1], f"blob:{picture.blob}"]
        apart.pictures.append(picture)
        at = end
    apart.text = "".join([*pieces, text[at:]])
    return apart


def with_pictures(text: str, pictures: list[Bytes]) -> str | None:
    """The text of a request with its pictures put back; None when they do not fit its places."""
    left = iter(pictures)
    pieces, at = [], 0
    for match in _PLACE.finditer(text):
        picture = next(left, None)
        if picture is None or picture.blob != match["blob"]:
            return None
        encoded = base64.b64encode(picture.data).decode()
        uri = encoded if match["bare"] else f"data:{picture.media_type};base64,{encoded}"
        pieces += [text[at : match.start("blob") - len("blob:")], uri]
        at = match.end("blob")
    return None if next(left, None) else "".join([*pieces, text[at:]])


def fields(wire: Format, whole: str, apart: Apart, body: Body, keep: Callable[[str], str]) -> dict[str, Any]:
    """The parts of a request as its `model_request` event names them; `keep` stores a text → sha256.

    `whole` is the request as it came; `body` is `apart.text`, parsed.
    """
    own_keys = (wire.SYSTEM, wire.ITEMS, "tools")
    items = body.get(wire.ITEMS, [])
    return {
        "asked": {key: value for key, value in body.items() if key not in own_keys},
        "tools": wire.tool_names(body),
        "tools_blob": keep(compact(body["tools"])) if "tools" in body else None,
        "system": keep(compact(body[wire.SYSTEM])) if wire.SYSTEM in body else None,
        "messages": [keep(compact(item)) for item in (items if isinstance(items, list) else [items])],
        "keys": list(body),
        # a client that writes JSON in another way: its own spelling is kept beside, so that nothing is lost
        "raw": None if _body_text(wire, body) == apart.text else keep(apart.text),
        "whole": None if with_pictures(apart.text, apart.pictures) == whole else keep(whole),
    }


def rebuild(event: ModelRequest, blobs: BlobStore) -> bytes:
    """The request that came from the agent, to the byte. KeyError when a blob is gone."""
    if event.whole:
        return blobs.get(event.whole)
    text = stored_text(event, blobs)
    pictures = [Bytes(blobs.get(p.blob), p.media_type, p.blob) for p in event.pictures]
    rebuilt = with_pictures(text, pictures)
    if rebuilt is None:
        raise KeyError(event.call)
    return rebuilt.encode()


def stored_text(event: ModelRequest, blobs: BlobStore) -> str:
    """The request without its pictures, in its own spelling. KeyError when a blob is gone."""
    if event.whole:
        return without_pictures(blobs.get_text(event.whole)).text
    return blobs.get_text(event.raw) if event.raw else _from_parts(event, blobs)


def changed(text: str, values: Body) -> str:
    """The JSON object `text` with these top-level values set; every other character stays as it is."""
    spans, end = _spans(text)
    pieces, at = [], 0
    for key, start, stop in spans:
        if key in values:
            pieces += [text[at:start], compact(values[key])]
            at = stop
    known = {key for key, _, _ in spans}
    new = [f"{compact(key)}:{compact(value)}" for key, value in values.items() if key not in known]
    comma = "," if spans and new else ""
    return "".join([*pieces, text[at:end], comma, ",".join(new), text[end:]])


def _spans(text: str) -> tuple[list[tuple[str, int, int]], int]:
    """(key, start and end of its value) of a JSON object that is known to be one; where its `}` stands."""
    spans: list[tuple[str, int, int]] = []
    at = text.index("{") + 1
    while True:
        at = _skip(text, at)
        if text[at] == "}":
            return spans, at
        if text[at] == ",":
            at = _skip(text, at + 1)
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, text.index(":", at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        spans.append((key, start, at))


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _body_text(wire: Format, body: Body) -> str:
    """What `_from_parts` will give for this body: a conversation of one text stays a text."""
    items = body.get(wire.ITEMS)
    return compact({**body, wire.ITEMS: _as_rebuilt(items)} if isinstance(items, list) else body)


def _from_parts(event: ModelRequest, blobs: BlobStore) -> str:
    wire = format_named(event.wire)
    stored: dict[str, Callable[[], Any]] = {"tools": lambda: _json(blobs, event.tools_blob)}
    stored[wire.ITEMS] = lambda: _items(blobs, event.messages)
    if wire.SYSTEM:
        stored[wire.SYSTEM] = lambda: _json(blobs, event.system)
    return compact({key: stored[key]() if key in stored else event.asked[key] for key in event.keys})


def _items(blobs: BlobStore, digests: list[str]) -> Any:
    items = [_json(blobs, digest) for digest in digests]
    return _as_rebuilt(items)


def _as_rebuilt(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 and isinstance(items[0], str) else items


def _json(blobs: BlobStore, digest: str | None) -> Any:
    return json.loads(blobs.get_text(digest)) if digest else None


def _source_type(text: str, match: re.Match[str], end: int) -> str | None:
    """The media type of the base64 source around `"data":"…"`; None when it is no picture's."""
    start = text.rfind("{", max(0, match.start() - _NEAR), match.start())
    stop = text.find("}", end, end + _NEAR)
    if start < 0 or stop < 0:
        return None
    try:
        source = json.loads(text[start : match.end()] + text[end : stop + 1])
    except ValueError:
        return None
    media_type = source.get("media_type")
    is_picture = isinstance(media_type, str) and media_type.startswith("image/")
    return media_type if is_picture and source.get("type") == "base64" else None


def _decoded(spelt: str) -> bytes | None:
    try:
        return base64.b64decode(_unescaped(spelt), validate=True)
    except ValueError:
        return None


def _unescaped(spelt: str) -> str:
    """A client may write `/` as `\\/` and `+` as `\\u002B`."""
    return str(json.loads(f'"{spelt}"')) if "\\" in spelt else spelt
