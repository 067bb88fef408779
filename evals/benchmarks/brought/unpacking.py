"""A zip from outside, unpacked into a private folder of the user's cache; nothing leaves that folder."""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from fieldmark.errors import UsageError
from fieldmark.user_cache import user_cache

MAX_FILES = 50_000
MAX_BYTES = 20 * 10**9
PLACE_BYTES = 10**8
"""What must stay free on the disk of the cache."""
CHUNK_BYTES = 1 << 20
_NOT_DATA = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_DRIVE = re.compile(r"[A-Za-z]:")


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/fieldmark/data`, for its owner alone."""
    folder = user_cache("data")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise UsageError(f"cannot use {folder}: {error.strerror}; set XDG_CACHE_HOME") from None
    return folder


def unpacked(path: Path, sha256: str) -> Path:
    """The folder of what `path` holds, unpacked at the first call. UsageError for a zip that is not safe."""
    folder = cache_folder() / sha256
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(path, archive)
            if not _is_whole(folder, members):
                _unpack(path, archive, members, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UsageError(f"{path} is damaged ({error}): download it again") from None
    except OSError as error:
        raise UsageError(f"cannot unpack {path} into {folder}: {error.strerror or error}") from None
    return folder


def _members(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Its files. Refused: names that lead out, links, encryption, doubles, too many and too large."""
    members = [info for info in archive.infolist() if not _is_noise(info)]
    seen: set[str] = set()
    for info in members:
        if problem := _problem(info, seen):
            raise UsageError(f"{path}: its member {info.filename!r} {problem}: not unpacked")
        seen.add(info.filename)
    if len(members) > MAX_FILES:
        raise UsageError(f"{path} holds {len(members):,} files, over {MAX_FILES:,}: not unpacked")
    size = sum(info.file_size for info in members)
    if size > MAX_BYTES:
        raise UsageError(f"{path} holds {size / 1e9:.1f} GB, over {MAX_BYTES / 1e9:.0f}: not unpacked")
    return members


def _is_noise(info: zipfile.ZipInfo) -> bool:
    return info.is_dir() or info.filename.startswith(_NOT_DATA[0]) or info.filename.endswith(_NOT_DATA[1:])


def _problem(info: zipfile.ZipInfo, seen: set[str]) -> str | None:
    name = info.filename
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or _DRIVE.match(name) or not parts:
        return "leads out of the folder"
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device"
    if info.flag_bits & 1:
        return "is encrypted"
    return "is there twice" if name in seen else None


def _is_whole(folder: Path, members: list[zipfile.ZipInfo]) -> bool:
    """Whether each file lies there as the zip has it."""
    return folder.is_dir() and all(_same(folder / info.filename, info) for info in members)


def _same(path: Path, info: zipfile.ZipInfo) -> bool:
    if not path.is_file() or path.is_symlink() or path.stat().st_size != info.file_size:
        return False
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            crc = zlib.crc32(chunk, crc)
    return crc == info.CRC


def _unpack(path: Path, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], folder: Path) -> None:
    """Into a neighbour first: a folder that is there is whole."""
    size = sum(info.file_size for info in members)
    free = shutil.disk_usage(folder.parent).free
    if size + PLACE_BYTES > free:
        raise UsageError(
            f"{path} needs {size / 1e6:.0f} MB in {folder.parent} and {free / 1e6:.0f} MB are free: make room"
        )
    beside = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))  # mode 0700
    try:
        for info in members:
            target = beside / info.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as source, target.open("xb") as file:
                shutil.copyfileobj(source, file, CHUNK_BYTES)
        if folder.exists():
            shutil.rmtree(folder)
        beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
