"""Reverse image search without a network: an index over a folder of labelled pictures."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from fieldmark.errors import DataFault, ToolError, UsageError
from fieldmark.tools.image_index.arrays import Arrays
from fieldmark.tools.image_index.building import HOME, STORE, build
from fieldmark.tools.image_index.candidates import Candidate, candidates
from fieldmark.tools.image_index.features import Features, describe_both
from fieldmark.tools.image_index.hashing import SAME_BITS, distance
from fieldmark.tools.image_index.labels import LABELS, Entry
from fieldmark.tools.image_index.look import LOOK
from fieldmark.tools.image_index.matching import match, match_score
from fieldmark.tools.image_index.store import VERSION, Store
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.trace import Box
from fieldmark.user_cache import user_cache

_ALIKE = 0.45
_SAME_SCORE = 0.95
_SHOWN_SIDE = 1024


@dataclass(frozen=True)
class Hit:
    """`score` from 0.5: the same object or scene, verified by geometry; below: only looks alike.

    `region` is the matched part of the query in its px, None for a look-alike. `image` is what
    `LocalIndex.picture` takes.
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
            "thumbnail": "",
            "image": self.image,
            "score": round(self.score, 3),
            "same_picture": self.same_picture,
        }


class LocalIndex:
    """A built index, mapped into memory; key points are read for the candidates of a query only."""

    def __init__(self, home: Path) -> None:
        """`home` is the folder that `build` wrote. UsageError: never finished, or damaged."""
        self._store = Store(home / STORE)
        published = self._store.published
        if published is None:
            raise UsageError(f"{home}: its build was never finished: run `fieldmark index build` again")
        arrays, folder, self.is_current = published
        self._folder = home / folder
        try:
            self.arrays = Arrays.open(home / arrays)
        except (OSError, ValueError) as error:
            raise UsageError(f"{home}: damaged ({error}): delete it and build again") from None

    @classmethod
    def open(cls, folder: Path) -> LocalIndex:
        """The index in `folder` or its HOME. A folder with an `index.jsonl` that was never built is built
        now, in the user's cache. UsageError: no index; a bad row or an unreadable picture of that file.
        """
        for home in (folder, folder / HOME):
            if (home / STORE).exists():
                return cls(home)
        if not (folder / LABELS).exists():
            raise UsageError(f"{folder}: no index here: run `fieldmark index build {folder}`")
        home = _cache(folder)
        built = build(folder, home=home, processes=0)
        if built.problems:
            file, why = built.problems[0]
            raise UsageError(f"{folder / LABELS}: {file}: {why}")
        return cls(home)

    def __len__(self) -> int:
        return len(self.arrays.ids)

    def sha256(self) -> str:
        """Of what a search can give: the labels of its pictures and the length of each file."""
        digest = hashlib.sha256()
        for entry, stamp in sorted(self._store.entries(), key=lambda row: row[0].file):
            digest.update(repr((entry, stamp and stamp.bytes)).encode())
        return digest.hexdigest()

    def query(self, image: bytes, limit: int) -> list[Hit]:
        """The `limit` best hits for a picture file, one an entity. DataFault: the picture is unreadable."""
        return self.search(describe_both(image), limit)

    def search(self, views: tuple[Features, Features], limit: int) -> list[Hit]:
        """As `query`, for a picture and its mirror image that are described."""
        hits = [self._hit(views, candidate) for candidate in candidates(self.arrays, views)]
        return _ranked([hit for hit in hits if hit], limit)

    def picture(self, reference: str) -> bytes:
        """The picture of a hit's `image` as JPEG: at most 1024 px, no metadata. ToolError `not_found`."""
        kind, _, number = reference.partition(":")
        entry = self._store.entry(int(number)) if kind == "index" and _is_number(number) else None
        if entry is None:
            raise ToolError(f"no picture {reference!r}: give the `image` of a result", "not_found")
        try:
            shown = open_upright((self._folder / entry.file).read_bytes())
        except (OSError, DataFault) as error:
            raise ToolError(f"the picture {reference} can no longer be read: {error}", "not_found") from None
        shown.thumbnail((_SHOWN_SIDE, _SHOWN_SIDE), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        shown.save(buffer, "JPEG", quality=90)
        return buffer.getvalue()

    def _hit(self, views: tuple[Features, Features], candidate: Candidate) -> Hit | None:
        """None: the picture was removed since the index was opened."""
        number = int(self.arrays.ids[candidate.place])
        entry, other = self._store.entry(number), self._store.features(number)
        if entry is None or other is None:
            return None
        tried = ((view, match(views[view], other)) for view in candidate.views)
        view, found = next((pair for pair in tried if pair[1]), (0, None))
        same = distance(views[0].hash, other.hash) <= SAME_BITS
        score = match_score(found.inliers) if found else _ALIKE * max(0.0, candidate.alike)
        region = found.region if found else None
        if region and view == 1:
            width = views[0].size[0]
            region = (width - region[2], region[1], width - region[0], region[3])
        return _hit_of(entry, number, max(score, _SAME_SCORE) if same else score, same, region)


def _hit_of(entry: Entry, number: int, score: float, same: bool, region: Box | None) -> Hit:
    return Hit(0, entry.title, entry.page, entry.source, entry.entity, score, same, region, f"index:{number}")


def _ranked(hits: list[Hit], limit: int) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda item: -item.score):
        best.setdefault(hit.entity, hit)
    return [replace(hit, rank=rank) for rank, hit in enumerate(list(best.values())[:limit], 1)]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18


def _cache(folder: Path) -> Path:
    """Of this version's own: what another one built there is left alone, and built anew here."""
    name = hashlib.sha256(repr((str(folder.resolve()), VERSION, LOOK)).encode()).hexdigest()[:16]
    return user_cache("indexes") / name
