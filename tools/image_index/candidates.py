"""Which pictures of an index are worth a geometric check: by shared words, by hash and by look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.image_index.arrays import Arrays
from fieldmark.tools.image_index.features import Features
from fieldmark.tools.image_index.hashing import turned
from fieldmark.tools.image_index.look import sketch
from fieldmark.tools.image_index.words import words_of

BY_WORDS, BY_HASH, BY_LOOK = 16, 4, 10
"""How many candidates each way gives."""

_OF_AN_ENTITY = 3
_VOTERS = 1000
_POSTINGS = 20_000_000
_SIGNATURE_BITS = 16
_SHORTLIST = 2000
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Candidate:
    """`place` in the arrays; `views` to match, likelier first: 0 the query as it is, 1 its mirror image;
    `alike`: cosine of looks.
    """

    place: int
    views: tuple[int, ...]
    alike: float


def candidates(arrays: Arrays, views: tuple[Features, Features]) -> list[Candidate]:
    """The best by each way, by each at most _OF_AN_ENTITY of one entity; of a small index all."""
    count = len(arrays.ids)
    votes = np.stack([_votes(arrays, view) for view in views])
    if count <= BY_WORDS + BY_HASH + BY_LOOK:
        places = np.arange(count)
    else:
        by_words = _best(arrays, votes.max(axis=0), BY_WORDS)
        by_hash = _best(arrays, -_bits_apart(arrays.hashes, turned(views[0].hash)), BY_HASH)
        places = np.unique(np.concatenate([by_words, by_hash, _by_look(arrays, views)]))
    alike = _cosines(arrays, views, places)
    best = np.where(
        votes[0, places] == votes[1, places], alike.argmax(axis=0), votes[:, places].argmax(axis=0)
    )
    return [
        Candidate(int(place), _worth_matching(votes[:, place], view), float(alike[view, at]))
        for at, (place, view) in enumerate(zip(places, best.tolist(), strict=True))
    ]


def _worth_matching(votes: NDArray[np.float32], view: int) -> tuple[int, ...]:
    """`view`, and the other one where its votes are near: few votes are too much by chance to choose by."""
    return (view, 1 - view) if 0 < votes[view] <= 2 * votes[1 - view] else (view,)


def _votes(arrays: Arrays, view: Features) -> NDArray[np.float32]:
    """(N,) how many of the query's points have their like in each picture, rare words counting more."""
    found = words_of(view.descriptors[:_VOTERS])
    words = found.words.astype(np.int64)
    starts, ends = arrays.starts[words], arrays.starts[words + 1]
    pictures, weights = [], []
    for at in _rarest(ends - starts):
        part = slice(starts[at], ends[at])
        near = np.bitwise_count(arrays.signatures[part] ^ found.signatures[at]) <= _SIGNATURE_BITS
        once = np.unique(arrays.pictures[part][near])  # a repeated pattern is one vote
        pictures.append(once)
        weights.append(np.full(len(once), 1 / np.sqrt(1 + len(once)), np.float32))
    return _summed(pictures, weights, len(arrays.ids))


def _rarest(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The words with the shortest lists of postings, _POSTINGS in all: what bounds the time of a query."""
    order = np.argsort(lengths, kind="stable")
    return order[np.cumsum(lengths[order]) <= _POSTINGS]


def _summed(
    pictures: list[NDArray[np.uint32]], weights: list[NDArray[np.float32]], count: int
) -> NDArray[np.float32]:
    if not pictures:
        return np.zeros(count, np.float32)
    sums = np.bincount(np.concatenate(pictures), np.concatenate(weights), minlength=count)
    return sums.astype(np.float32)


def _by_look(arrays: Arrays, views: tuple[Features, Features]) -> NDArray[np.int64]:
    """The best by cosine among those whose sketches differ least."""
    sketches = sketch(np.stack([view.look for view in views]))
    near = _smallest(_bits_apart(arrays.sketches, sketches), _SHORTLIST)
    alike = _cosines(arrays, views, near).max(axis=0)
    return near[_best(arrays, alike, BY_LOOK, near)]


def _bits_apart(planes: NDArray[np.uint64], queries: NDArray[np.uint64]) -> NDArray[np.int16]:
    """(N,) differing bits of (4, N) planes to the nearest of (Q, 4) queries."""
    apart = np.empty(planes.shape[1], np.int16)
    for start in range(0, len(apart), _BLOCK):
        block = planes[:, start : start + _BLOCK]
        sums = [_ones(block, query) for query in queries]
        apart[start : start + _BLOCK] = np.minimum.reduce(sums)
    return apart


def _ones(block: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.int16]:
    ones = np.zeros(block.shape[1], np.int16)
    for plane, bits in zip(block, query, strict=True):
        ones += np.bitwise_count(plane ^ bits)
    return ones


def _cosines(arrays: Arrays, views: tuple[Features, Features], places: NDArray[Any]) -> NDArray[np.float32]:
    """(2, places) cosines of the looks of both views."""
    looks = arrays.looks[places].astype(np.float32)
    return np.asarray(np.stack([view.look for view in views]) @ looks.T)


def _best(
    arrays: Arrays, scores: NDArray[Any], wanted: int, places: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Where the highest scores stand, few of one entity, so that no entity takes all the room."""
    order = _smallest(-scores, _OF_AN_ENTITY * wanted * 4)
    kept, seen = [], dict[int, int]()
    for at in order.tolist():
        entity = int(arrays.entities[at if places is None else places[at]])
        seen[entity] = seen.get(entity, 0) + 1
        if seen[entity] <= _OF_AN_ENTITY:
            kept.append(at)
    return np.array(kept[:wanted], np.int64)


def _smallest(values: NDArray[Any], wanted: int) -> NDArray[np.int64]:
    """Where the `wanted` smallest values stand, smallest first; equal ones in their order."""
    if len(values) > wanted:
        bound = np.partition(values, wanted - 1)[wanted - 1]
        below = np.flatnonzero(values < bound)
        chosen = np.concatenate([below, np.flatnonzero(values == bound)[: wanted - len(below)]])
    else:
        chosen = np.arange(len(values))
    return np.asarray(chosen[np.argsort(values[chosen], kind="stable")], np.int64)
