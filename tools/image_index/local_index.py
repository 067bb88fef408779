"""Reverse image search without a network: an index over a folder of labelled pictures."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from fieldmark.errors import EpisodeFault, ToolError, UsageError
from fieldmark.tools.image_index.features import Features, cached_features, describe, distance
from fieldmark.tools.image_index.matching import match, match_score
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.trace import Box

SAME_BITS = 31
_SHOWN = 1024
_ALIKE = 0.45
_CANDIDATES = 40
_VOTERS = 150
_BLOCK = 100


class Entry(BaseModel):
    """A row of `index.jsonl`. `file` is relative to the folder; rows of one `entity` give one hit."""

    model_config = ConfigDict(extra="ignore")

    file: str
    title: str
    entity: str
    page: str = ""
    source: str = ""
    license: str = ""


@dataclass(frozen=True)
class Hit:
    """`score` from 0.5: the same object or scene, verified by geometry; below: only looks alike.

    `region` is the matched part of the query in its px, None for a look-alike.
    """

    rank: int
    title: str
    page: str
    source: str
    entity: str
    score: float
    same_picture: bool
    region: Box | None
    image: str

    def public(self) -> dict[str, Any]:
        """The hit as `POST /lookup/reverse-image` gives it."""
        return {
            "rank": self.rank,
            "title": self.title,
            "page": self.page,
            "source": self.source,
            "score": round(self.score, 3),
            "same_picture": self.same_picture,
            "image": self.image,
        }


class LocalIndex:
    """All pictures of a folder with their features, in memory (about 0.6 MB a picture)."""

    def __init__(self, folder: Path, entries: list[Entry], features: list[Features]) -> None:
        self.folder = folder
        self.entries = entries
        self._features = features
        self._looks = np.array([item.look for item in features], np.float32)

    @classmethod
    def open(cls, folder: Path) -> LocalIndex:
        """Read `folder/index.jsonl` and its pictures; features come from the cache where they can.

        UsageError names file and line of a bad row, and of a picture that is missing or unreadable.
        """
        entries, features = [], []
        for number, line in enumerate(_lines(folder / "index.jsonl"), 1):
            if line.strip():
                entry, feature = _row(folder, line, f"{folder / 'index.jsonl'}, line {number}")
                entries.append(entry)
                features.append(feature)
        if not entries:
            raise UsageError(f"{folder / 'index.jsonl'}: no rows; add one for each picture")
        return cls(folder, entries, features)

    def query(self, image: bytes, limit: int) -> list[Hit]:
        """The `limit` best hits for a picture file, one an entity. DataFault: the picture is unreadable."""
        query = describe(image)
        alike = self._looks @ query.look
        hits = [
            self._hit(query, int(number), float(alike[number])) for number in self._candidates(query, alike)
        ]
        return _ranked(hits, limit)

    def picture(self, reference: str) -> bytes:
        """The picture that a hit calls `image` (`index:<n>`): JPEG, sides up to 1024 px. ToolError."""
        kind, _, number = reference.partition(":")
        if kind != "index" or number not in map(str, range(len(self.entries))):
            raise ToolError(f"no picture {reference!r}: give the `image` of a result", "not_found")
        image = open_upright((self.folder / self.entries[int(number)].file).read_bytes())
        image.thumbnail((_SHOWN, _SHOWN))
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=90)
        return buffer.getvalue()

    def _candidates(self, query: Features, alike: NDArray[np.float32]) -> list[int]:
        """Entries worth a geometric check: all of a small index, else those with most votes or best look."""
        if len(self.entries) <= _CANDIDATES:
            return list(range(len(self.entries)))
        votes = np.argsort(-self._votes(query), kind="stable")[:_CANDIDATES]
        looks = np.argsort(-alike, kind="stable")[: _CANDIDATES // 2]
        return list(dict.fromkeys([*votes.tolist(), *looks.tolist()]))

    def _votes(self, query: Features) -> NDArray[np.int64]:
        """(entries,) how many key points of the query are likest to one of an entry's strongest."""
        if not len(query.descriptors):
            return np.zeros(len(self.entries), np.int64)
        best = np.concatenate(
            [self._likeness(query, start) for start in range(0, len(self._features), _BLOCK)], axis=1
        )
        return np.bincount(best.argmax(axis=1), minlength=len(self.entries))

    def _likeness(self, query: Features, start: int) -> NDArray[np.float32]:
        """(key points, entries of a block): in blocks, for all at once would not fit in memory."""
        block = self._features[start : start + _BLOCK]
        strongest = np.zeros((len(block), _VOTERS, 128), np.float32)
        for number, item in enumerate(block):
            strongest[number, : len(item.descriptors[:_VOTERS])] = item.descriptors[:_VOTERS]
        likeness = query.descriptors @ strongest.reshape(-1, 128).T
        return np.asarray(likeness.reshape(-1, len(block), _VOTERS).max(axis=2))

    def _hit(self, query: Features, number: int, alike: float) -> Hit:
        entry, other = self.entries[number], self._features[number]
        found = match(query, other)
        same = distance(query, other) <= SAME_BITS
        score = match_score(found.inliers) if found else _ALIKE * max(0.0, alike)
        region = found.region if found else None
        score = max(score, 0.95) if same else score
        reference = f"index:{number}"
        return Hit(0, entry.title, entry.page, entry.source, entry.entity, score, same, region, reference)


def _ranked(hits: list[Hit], limit: int) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda item: -item.score):
        best.setdefault(hit.entity, hit)
    return [replace(hit, rank=rank) for rank, hit in enumerate(list(best.values())[:limit], 1)]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}; an index is a folder of pictures with an index.jsonl") from None


def _row(folder: Path, line: str, where: str) -> tuple[Entry, Features]:
    try:
        entry = Entry.model_validate(json.loads(line))
        path = (folder / entry.file).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise UsageError(f"{where}: {entry.file} lies outside the index folder")
        return entry, cached_features(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{where}: {'.'.join(map(str, first['loc'])) or 'row'}: {first['msg']}") from None
    except ValueError as error:
        raise UsageError(f"{where}: not JSON: {error}") from None
    except OSError as error:
        raise UsageError(f"{where}: {entry.file}: {error.strerror}") from None
    except EpisodeFault as error:
        raise UsageError(f"{where}: {entry.file}: {error}") from None
