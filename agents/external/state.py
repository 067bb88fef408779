"""The files that an agent of others keeps for later episodes: laid out before it starts, read at its end."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.counting import counted

Roots = Mapping[str, Path]
"""`home` and `workspace` → where they are."""


@dataclass(frozen=True)
class Carried:
    """What was laid out. `writes`: whether what it leaves is asked for."""

    places: Sequence[str]
    roots: Roots
    writes: bool


def lay_out(gateway: GatewayClient, places: Sequence[str], roots: Roots) -> Carried | None:
    """Write what earlier episodes left; None where the run carries nothing."""
    if not places:
        return None
    try:
        told = gateway.get("/memory/state").json()
    except GatewayRefused:
        return None
    for name, text in told["files"].items():
        path = _real(name, roots)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return Carried(places, roots, told["writes"])


def leave(gateway: GatewayClient, carried: Carried, not_its_own: Collection[Path]) -> None:
    """Send what it keeps; what we laid out for it, links and what is no text stay behind."""
    if not carried.writes:
        return
    files, left_out = _read(carried, not_its_own)
    if left_out:
        gateway.event(
            "log", level="info", message=f"its memory: {counted(left_out, 'file')} without text left out"
        )
    try:
        gateway.call("PUT", "/memory/state", {"files": files})
    except GatewayRefused as refused:
        gateway.event("log", level="warning", message=f"its memory was not kept: {refused}")


def _read(carried: Carried, not_its_own: Collection[Path]) -> tuple[dict[str, str], int]:
    files, left_out = {}, 0
    for place in carried.places:
        for name, path in _files(place, _real(place, carried.roots)):
            if path in not_its_own:
                continue
            text = _text(path)
            if text is None:
                left_out += 1
            else:
                files[name] = text
    return files, left_out


def _files(name: str, path: Path) -> Iterator[tuple[str, Path]]:
    """(name, path) of each plain file; links are not followed, for what they name is not in its memory."""
    try:
        mode = path.lstat().st_mode
        inside = sorted(path.iterdir()) if stat.S_ISDIR(mode) else []
    except OSError:
        return
    if stat.S_ISREG(mode):
        yield name, path
    for child in inside:
        yield from _files(f"{name}/{child.name}", child)


def _text(path: Path) -> str | None:
    try:
        text = path.read_bytes().decode()
        path.name.encode()
    except (OSError, UnicodeError):
        return None
    return None if "\0" in text else text


def _real(name: str, roots: Roots) -> Path:
    root, _, rest = name.partition("/")
    return roots[root] / rest
