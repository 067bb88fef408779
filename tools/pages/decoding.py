"""Bytes from the web → text, whatever they claim to be. Nothing raises; what cannot be read becomes `�`."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_IN_TYPE = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_IN_BODY = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page may name its encoding
_SAMPLE = 20_000  # bytes that are looked at to guess an encoding
_ENOUGH = 200  # bytes beyond ASCII from which a guess is better than windows-1252
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}
"""What browsers read instead of what is written (WHATWG Encoding)."""


def decode(data: bytes, media_type: str = "") -> str:
    """By byte order mark, the declared encoding where it fits, UTF-8, a guess, windows-1252."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, "replace")
    declared = _declared(data, media_type)
    fits_all = declared == "cp1252"  # so UTF-8 is tried before it
    for encoding in ("utf-8", declared) if fits_all else (declared, "utf-8"):
        try:
            if encoding:
                return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode(declared or _guess(data), "replace")


def _declared(data: bytes, media_type: str) -> str | None:
    in_type, in_body = _IN_TYPE.search(media_type), _IN_BODY.search(data[:_HEAD])
    names = ([in_type[1]] if in_type else []) + ([in_body[1].decode("ascii")] if in_body else [])
    for name in names:
        try:
            plain = codecs.lookup(name).name
            b"a".decode(plain)  # some codecs are not of text
        except (LookupError, ValueError):
            continue
        if not plain.startswith("utf-16") or in_type:
            return _MEANT.get(plain, plain)
    return None


def _guess(data: bytes) -> str:
    if sum(byte > 127 for byte in data[:_SAMPLE]) < _ENOUGH:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    return best.encoding if best else "cp1252"
