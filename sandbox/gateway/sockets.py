"""The folder of a run's gateway sockets: short path, closed to other users, owned by this process."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.sandbox import owner
from fieldmark.sandbox.gateway.door import Door

PREFIX = "fm-"
UNSIGNED_SECONDS = 60.0
_NAME = re.compile(rf"{PREFIX}[0-9a-f]{{8}}")


def base() -> Path:
    """`$XDG_RUNTIME_DIR` or `/tmp`: AF_UNIX paths end at 107 bytes, so never under the run folder."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp")


class Sockets:
    """`<base>/fm-<hex>/` (0700) holds `<n>/` (0755), one for each container, with its `gateway.sock`."""

    def __init__(self) -> None:
        self.folder = owned_folder()
        self._made = 0

    async def open_door(self) -> Door:
        self._made += 1
        door = Door(self.folder / str(self._made))
        await door.open()
        return door

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def owned_folder() -> Path:
    """A new folder that goes when this process is dead: the reaper of another run sees to it. UsageError."""
    folder = base() / f"{PREFIX}{secrets.token_hex(4)}"
    try:
        folder.mkdir(mode=0o700)
        (folder / "place").write_text(owner.place())
        (folder / "owner").write_text(owner.me())
    except OSError as error:
        raise UsageError(f"cannot make the gateway's socket folder {folder}: {error.strerror}") from None
    return folder


def _owner_of(folder: Path) -> tuple[str, str]:
    place = folder / "place"
    return (folder / "owner").read_text(), place.read_text() if place.exists() else ""


def _unfinished(folder: Path) -> bool:
    """Whether its run was killed while it made it: none has an unsigned one longer than an instant."""
    of_ours = _NAME.fullmatch(folder.name) and {path.name for path in folder.iterdir()} <= {"place", "owner"}
    unsigned = not (folder / "owner").exists() or not (folder / "owner").read_text()
    return bool(of_ours) and unsigned and time.time() - folder.stat().st_mtime > UNSIGNED_SECONDS


def abandoned() -> list[Path]:
    """Socket folders of ours whose owner is dead, or was before it had signed it."""
    found = []
    for folder in base().glob(f"{PREFIX}*"):
        try:
            dead = _unfinished(folder) or owner.alive(*_owner_of(folder)) is False
            if dead and folder.stat().st_uid == os.getuid():
                found.append(folder)
        except OSError:
            continue
    return found
