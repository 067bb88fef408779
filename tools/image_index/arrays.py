"""What a search reads of all pictures: contiguous files, mapped into memory and never loaded whole.

N pictures with D values of look and P postings in all:

    ids        (N,) int64     the picture's number in the store
    entities   (N,) int32     equal for pictures of one entity
    looks      (N, D) float16
    sketches   (4, N) uint64  signs of the looks, a plane for each 64 bits
    hashes     (4, N) uint64  perceptual hashes
    starts     (65537,) int64 the postings of word w are starts[w] to starts[w + 1]
    pictures   (P,) uint32    posting: a place in `ids`, ascending in each word
    signatures (P,) uint64    posting: Hamming embedding
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.image_index.look import LENGTH, sketch
from fieldmark.tools.image_index.store import Row
from fieldmark.tools.image_index.words import WORDS

_CHUNK = 10_000


@dataclass(frozen=True)
class Arrays:
    """The arrays of the module's table."""

    ids: NDArray[np.int64]
    entities: NDArray[np.int32]
    looks: NDArray[np.float16]
    sketches: NDArray[np.uint64]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    pictures: NDArray[np.uint32]
    signatures: NDArray[np.uint64]

    @classmethod
    def open(cls, folder: Path) -> Arrays:
        """Map the files of a folder. OSError, ValueError: absent or damaged."""
        return cls(
            *(np.asarray(np.load(folder / f"{field.name}.npy", mmap_mode="r")) for field in fields(cls))
        )


def write_arrays(folder: Path, count: int, rows: Callable[[], Iterator[Row]]) -> None:
    """Make the files of `count` pictures in two passes over `rows()`, 10,000 of them in memory at a time."""
    folder.mkdir(parents=True)
    counts = _write_pictures(folder, count, rows())
    starts = np.concatenate([[0], np.cumsum(counts)])
    np.save(folder / "starts.npy", starts)
    _write_postings(folder, rows(), starts)


def _write_pictures(folder: Path, count: int, rows: Iterator[Row]) -> NDArray[np.int64]:
    """All but the postings; returns the number of postings of each word."""
    ids, entities = _new(folder, "ids", np.int64, count), _new(folder, "entities", np.int32, count)
    looks = _new(folder, "looks", np.float16, count, LENGTH)
    sketches, hashes = (
        _new(folder, "sketches", np.uint64, 4, count),
        _new(folder, "hashes", np.uint64, 4, count),
    )
    numbers: dict[str, int] = {}
    counts = np.zeros(WORDS, np.int64)
    for first, chunk in _chunks(rows):
        part = slice(first, first + len(chunk))
        ids[part] = [row.id for row in chunk]
        entities[part] = [numbers.setdefault(row.entity, len(numbers)) for row in chunk]
        looks[part] = [row.look for row in chunk]
        sketches[:, part] = sketch(looks[part]).T
        hashes[:, part] = np.array([row.hash for row in chunk]).T
        counts += np.bincount(np.concatenate([row.words.words for row in chunk]), minlength=WORDS)
    return counts


def _write_postings(folder: Path, rows: Iterator[Row], starts: NDArray[np.int64]) -> None:
    total = int(starts[-1])
    pictures = _new(folder, "pictures", np.uint32, total)
    signatures = _new(folder, "signatures", np.uint64, total)
    free = starts[:-1].copy()
    for first, chunk in _chunks(rows):
        words = np.concatenate([row.words.words for row in chunk])
        places = np.repeat(np.arange(first, first + len(chunk)), [len(row.words.words) for row in chunk])
        order = np.argsort(words, kind="stable")
        sorted_words = words[order]
        counts = np.bincount(words, minlength=WORDS)
        rank = np.arange(len(words)) - (np.cumsum(counts) - counts)[sorted_words]
        target = free[sorted_words] + rank
        pictures[target] = places[order]
        signatures[target] = np.concatenate([row.words.signatures for row in chunk])[order]
        free += counts


def _chunks(rows: Iterator[Row]) -> Iterator[tuple[int, list[Row]]]:
    first = 0
    while chunk := list(islice(rows, _CHUNK)):
        yield first, chunk
        first += len(chunk)


def _new(folder: Path, name: str, kind: Any, *shape: int) -> NDArray[Any]:
    if 0 in shape:  # an empty file cannot be mapped for writing
        empty = np.zeros(shape, kind)
        np.save(folder / f"{name}.npy", empty)
        return empty
    return np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, shape)  # type: ignore[no-untyped-call,no-any-return,unused-ignore]
