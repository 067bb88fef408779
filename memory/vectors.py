"""Texts as vectors, without a model: hashed words and pieces of words, in any script.

A text's vector counts its words, the runs of three characters in each, and for Chinese, Japanese and Korean
each character and each pair. `log(1 + count)`, put at crc32 of the piece modulo LENGTH. Words that many notes
share weigh less (`rarity`): that is tf-idf, with the notes at hand as the collection.
"""

from __future__ import annotations

import base64
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LENGTH = 1024
Floats = NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def text_vector(text: str) -> Floats:
    """(LENGTH,) counts of the text's pieces, dampened, of no set length."""
    vector = np.zeros(LENGTH, np.float32)
    for piece, count in Counter(_pieces(text)).items():
        vector[zlib.crc32(piece.encode("utf-8", "replace")) % LENGTH] += np.log1p(count)
    return vector


def rarity(vectors: Floats) -> Floats:
    """(LENGTH,) how much a piece tells: log(1 + N / (1 + n)), where n of the N texts (N, LENGTH) have it."""
    having = (vectors > 0).sum(axis=0)
    return np.asarray(np.log1p(len(vectors) / (1 + having)), np.float32)


def cosines(rows: Floats, query: Floats) -> Floats:
    """(N,) cosine of each row of (N, D) and `query` (D,); 0 where one of the two is zero."""
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    return np.asarray((rows @ query) / np.maximum(lengths, 1e-9), np.float32)


def packed(vector: Floats) -> str:
    """base64 of little-endian float32."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def unpacked(text: str) -> Floats:
    """What `packed` made. ValueError: it is none."""
    return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)


def _pieces(text: str) -> Iterator[str]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        place = 0
        for run in _UNSPACED.finditer(word):
            yield from _of_word(word[place : run.start()])
            yield from run[0]
            yield from (run[0][at : at + 2] for at in range(len(run[0]) - 1))
            place = run.end()
        yield from _of_word(word[place:])


def _of_word(word: str) -> Iterator[str]:
    if word:
        edged = f" {word} "
        yield edged
        yield from (edged[at : at + 3] for at in range(len(edged) - 2))
