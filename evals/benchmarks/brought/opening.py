"""From what the user names (zip, folder, file) to the manifest, the folder of its pictures, and hashes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought.unpacking import unpacked

SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")
CHUNK_BYTES = 1 << 20
_SHA256 = re.compile(r"\b[0-9a-fA-F]{64}\b")
DEPTH = 3
"""How many folders down a manifest is looked for."""


@dataclass(frozen=True)
class Opened:
    """`root` bounds where pictures may lie. `sha256` is of the file that was named; None for a folder.

    `checked` is whether a .sha256 file beside it agreed; None where there is none.
    """

    name: str
    root: Path
    manifest: Path
    sha256: str | None
    checked: bool | None


def open_data(path: Path) -> Opened:
    """UsageError when there is nothing to load, or when it is not what its .sha256 file says."""
    path = path.expanduser().resolve()
    if path.is_dir():
        archives = sorted(path.glob("*.zip"))
        if _manifests(path) or len(archives) != 1:
            return Opened(path.name, path, _manifest(path), None, None)
        path = archives[0]
    if not path.is_file():
        raise UsageError(f"--data {path} is not there: name the zip, its unpacked folder or a manifest")
    if path.suffix.lower() not in (".zip", *SUFFIXES):
        raise UsageError(
            f"--data {path.name} is no zip, folder, .json, .jsonl, .csv or .parquet: name one of these"
        )
    digest = sha256_of(path)
    checked = _check(path, digest)
    if path.suffix.lower() != ".zip":
        return Opened(path.name, path.parent, path, digest, checked)
    root = unpacked(path, digest)
    return Opened(path.name, root, _manifest(root), digest, checked)


def sha256_of(path: Path) -> str:
    """Of a file of any size; read again only when its size or time has changed."""
    now = path.stat()
    return _sha256_at(path, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=10_000)
def _sha256_at(path: Path, size: int, modified: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _check(path: Path, digest: str) -> bool | None:
    """Compare with the `.sha256` file beside it, of the same name: one hash, or lines `HASH  NAME`."""
    beside = next(
        (file for file in (path.with_suffix(".sha256"), Path(f"{path}.sha256")) if file.is_file()), None
    )
    if beside is None:
        return None
    lines = [line for line in beside.read_text(errors="replace").splitlines() if _SHA256.search(line)]
    named = [line for line in lines if path.name in line] or (lines if len(lines) == 1 else [])
    if not named:
        raise UsageError(f"{beside.name} has no sha256 of {path.name}: correct it or move it away")
    if digest not in {found.lower() for line in named for found in _SHA256.findall(line)}:
        raise UsageError(f"{path.name} is not what {beside.name} says (it has {digest}): download it again")
    return True


def _manifest(root: Path) -> Path:
    """The one file that lists the items: called manifest, else the only one of its kind."""
    found = _manifests(root)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"no manifest (.json, .jsonl, .csv or .parquet) in {root.name}: name the file itself with --data"
        )
    names = ", ".join(str(file.relative_to(root)) for file in found[:5])
    raise UsageError(
        f"{root.name} holds {len(found)} files that could be the manifest ({names}): name one with --data"
    )


def _manifests(root: Path) -> list[Path]:
    """Those called manifest, else all; of those the ones nearest to the root."""
    files = [
        file
        for depth in range(DEPTH)
        for file in sorted(root.glob("*/" * depth + "*"))
        if file.suffix.lower() in SUFFIXES and file.is_file() and not _is_hidden(file.relative_to(root))
    ]
    named = [file for file in files if file.stem.lower() == "manifest"] or files
    nearest = min((len(file.parts) for file in named), default=0)
    return [file for file in named if len(file.parts) == nearest]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
