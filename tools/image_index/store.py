"""The pictures of an index and their features, in one SQLite file: what is described stays described."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldmark.errors import UsageError
from fieldmark.tools.image_index.features import SIDE, Features
from fieldmark.tools.image_index.hashing import Hash
from fieldmark.tools.image_index.labels import Entry
from fieldmark.tools.image_index.look import LOOK
from fieldmark.tools.image_index.words import Words, words_of

VERSION = 2
KEPT_POINTS = 600
"""Key points kept of a picture, 132 bytes each."""

WORD_POINTS = 200
"""Of these the first so many are found through the inverted file."""

_FINE = 64  # a point's place is kept in parts of a pixel of the picture at SIDE
_TABLES = (
    "CREATE TABLE about (version INTEGER, look TEXT, arrays TEXT, folder TEXT, changed INTEGER)",
    f"INSERT INTO about VALUES ({VERSION}, '{LOOK}', NULL, NULL, 1)",
    """CREATE TABLE picture (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL UNIQUE, title TEXT,
    entity TEXT, page TEXT, source TEXT, license TEXT, bytes INTEGER, modified INTEGER, problem TEXT,
    look BLOB, hash BLOB, words BLOB, signatures BLOB)""",
    """CREATE TABLE keypoints (id INTEGER PRIMARY KEY, width INTEGER, height INTEGER, points BLOB,
    descriptors BLOB)""",
)
_ENTRY = ", ".join(field.name for field in fields(Entry))


@dataclass(frozen=True)
class Packed:
    """Features as they are stored; made where a picture is described, so that little crosses processes."""

    look: bytes
    hash: bytes
    words: bytes
    signatures: bytes
    width: int
    height: int
    points: bytes
    descriptors: bytes


@dataclass(frozen=True)
class Stamp:
    """By what a changed file is told: its length in bytes and the time of its last change in ns."""

    bytes: int
    modified: int


@dataclass(frozen=True)
class Row:
    """What the search arrays are made of. `look` (D,) float16, `hash` (4,), `words` of WORD_POINTS points."""

    id: int
    entity: str
    look: NDArray[np.float16]
    hash: Hash
    words: Words


def pack(features: Features) -> Packed:
    """`features` as bytes: half-precision look, key points of KEPT_POINTS in 8 bits a value."""
    words = words_of(features.descriptors[:WORD_POINTS])
    factor = SIDE / max(features.size)
    points = (features.points[:KEPT_POINTS] * factor * _FINE).clip(0, 65535)
    descriptors = (features.descriptors[:KEPT_POINTS] * 255).round()
    return Packed(
        features.look.astype(np.float16).tobytes(),
        features.hash.tobytes(),
        words.words.tobytes(),
        words.signatures.tobytes(),
        *features.size,
        points.astype(np.uint16).tobytes(),
        descriptors.astype(np.uint8).tobytes(),
    )


class Store:
    """One connection. A killed writer loses the pictures since the last `commit`, nothing else."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        """UsageError: cannot be opened, or of another version of fieldmark."""
        self._path = path
        mode = "rwc" if writable else "ro"
        try:
            self._db = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60, check_same_thread=False
            )
            if writable and not self._db.execute("SELECT 1 FROM sqlite_schema").fetchone():
                for statement in _TABLES:
                    self._db.execute(statement)
                self._db.commit()
            about = self._db.execute("SELECT version, look FROM about").fetchone()
        except sqlite3.Error as error:
            raise UsageError(f"{path}: not usable ({error}): build the index again") from None
        if about != (VERSION, LOOK):
            raise UsageError(f"{path}: of another version of fieldmark: delete its folder, build again")

    def close(self) -> None:
        self._db.close()

    def commit(self) -> None:
        self._db.commit()

    @property
    def published(self) -> tuple[str, str, bool] | None:
        """(name of the arrays, folder of the pictures, whether they hold all changes); None: never built."""
        arrays, folder, changed = self._db.execute("SELECT arrays, folder, changed FROM about").fetchone()
        return None if arrays is None else (arrays, folder, not changed)

    def publish(self, arrays: str, folder: str) -> None:
        """From now on `arrays` are what is searched."""
        self._db.execute("UPDATE about SET arrays = ?, folder = ?, changed = 0", (arrays, folder))
        self._db.commit()

    def entries(self) -> Iterator[tuple[Entry, Stamp | None]]:
        """Every picture there is; without a stamp those that are broken."""
        query = f"SELECT {_ENTRY}, bytes, modified, problem IS NOT NULL FROM picture"
        for *entry, size, modified, broken in self._db.execute(query):
            yield Entry(*entry), None if broken else Stamp(size, modified)

    def remove(self, files: Iterable[str]) -> None:
        for file in files:
            self._db.execute("UPDATE about SET changed = 1")
            self._db.execute(
                "DELETE FROM keypoints WHERE id = (SELECT id FROM picture WHERE file = ?)", (file,)
            )
            self._db.execute("DELETE FROM picture WHERE file = ?", (file,))

    def label(self, entry: Entry) -> None:
        """Change what is known of a picture that is there."""
        self._db.execute("UPDATE about SET changed = 1")
        self._db.execute(
            "UPDATE picture SET title = ?, entity = ?, page = ?, source = ?, license = ? WHERE file = ?",
            (entry.title, entry.entity, entry.page, entry.source, entry.license, entry.file),
        )

    def add(self, entry: Entry, stamp: Stamp, found: Packed | str) -> None:
        """Put a picture in, in place of an older one of the same file. A text says why it is broken."""
        known = "SELECT 1 FROM picture WHERE file = ? AND problem = ?"
        if isinstance(found, str) and self._db.execute(known, (entry.file, found)).fetchone():
            return
        self.remove([entry.file])
        values = [*vars(entry).values(), stamp.bytes, stamp.modified]
        if isinstance(found, str):
            places = ", ".join("?" * len(values))
            self._db.execute(
                f"INSERT INTO picture ({_ENTRY}, bytes, modified, problem) VALUES ({places}, ?)",
                [*values, found],
            )
            return
        values += [found.look, found.hash, found.words, found.signatures]
        places = ", ".join("?" * len(values))
        names = f"{_ENTRY}, bytes, modified, look, hash, words, signatures"
        number = self._db.execute(f"INSERT INTO picture ({names}) VALUES ({places})", values).lastrowid
        self._db.execute(
            "INSERT INTO keypoints VALUES (?, ?, ?, ?, ?)",
            (number, found.width, found.height, found.points, found.descriptors),
        )

    def problems(self) -> list[tuple[str, str]]:
        """(file, why) of each broken picture."""
        return list(
            self._db.execute("SELECT file, problem FROM picture WHERE problem IS NOT NULL ORDER BY file")
        )

    def __len__(self) -> int:
        """Pictures that can be searched."""
        (count,) = self._db.execute("SELECT count(*) FROM picture WHERE problem IS NULL").fetchone()
        return int(count)

    def rows(self) -> Iterator[Row]:
        """All that can be searched, by number."""
        names = "id, entity, look, hash, words, signatures"
        for number, entity, look, bits, words, signatures in self._db.execute(
            f"SELECT {names} FROM picture WHERE problem IS NULL ORDER BY id"
        ):
            yield Row(
                number,
                entity,
                np.frombuffer(look, np.float16),
                np.frombuffer(bits, np.uint64),
                Words(np.frombuffer(words, np.uint16), np.frombuffer(signatures, np.uint64)),
            )

    def entry(self, number: int) -> Entry | None:
        row = self._db.execute(f"SELECT {_ENTRY} FROM picture WHERE id = ?", (number,)).fetchone()
        return Entry(*row) if row else None

    def features(self, number: int) -> Features | None:
        """The features of a picture; None when it was removed since."""
        row = self._db.execute(
            "SELECT look, hash, width, height, points, descriptors FROM picture JOIN keypoints USING (id)"
            " WHERE id = ?",
            (number,),
        ).fetchone()
        return _unpack(*row) if row else None


def _unpack(look: bytes, bits: bytes, width: int, height: int, points: bytes, descriptors: bytes) -> Features:
    values: NDArray[Any] = np.frombuffer(descriptors, np.uint8).reshape(-1, 128).astype(np.float32)
    lengths = np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-6)
    places = np.frombuffer(points, np.uint16).reshape(-1, 2).astype(np.float32)
    return Features(
        (width, height),
        places * np.float32(max(width, height) / SIDE / _FINE),
        values / lengths,
        np.frombuffer(look, np.float16).astype(np.float32),
        np.frombuffer(bits, np.uint64),
    )
