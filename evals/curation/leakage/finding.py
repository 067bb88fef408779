"""Where copies are looked for: a local index that stands in for the web; the web itself is in fieldmark/."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fieldmark.errors import ToolError
from fieldmark.tools.image_index.local_index import LocalIndex

MOST = 20
"""Hits that are looked at, the best first."""


@dataclass(frozen=True)
class Found:
    """A hit of a search by picture. `picture`: the found file, None where it cannot be had; `page` its
    address, "" when unknown. `text`: what the page says, None where it was not read.
    """

    query: str
    page: str
    title: str
    picture: bytes | None
    text: str | None = None


Search = Callable[[bytes], Iterator[Found]]
"""The hits of a picture file, the likeliest first."""
ReadPage = Callable[[str], str | None]
"""A URL → the text of its page; None: it cannot be had."""


def in_index(folder: Path, read: ReadPage) -> Search:
    """A Search in an index (`fieldmark index build`). A hit without a page is all that the index says of it:
    its title and source are its text. UsageError: no index.
    """
    index = LocalIndex.open(folder)

    def search(picture: bytes) -> Iterator[Found]:
        for hit in index.query(picture, MOST):
            try:
                data = index.picture(hit.image)
            except ToolError:
                data = None
            text = read(hit.page) if hit.page else hit.source
            yield Found(f"local index {folder.name}", hit.page, hit.title, data, text)

    return search
