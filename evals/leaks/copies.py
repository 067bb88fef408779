"""Copies of the task picture that an agent came upon, from its trace: by search, on pages, by comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from fieldmark.blobs import BlobStore
from fieldmark.errors import ToolError
from fieldmark.tools.context import Page
from fieldmark.tools.pages.page_text import read_page
from fieldmark.trace import Egress, Event, SamePicture, ToolCall, ToolResult

MAX_PICTURES = 100
"""Pictures of pages that are looked at in one episode."""
MIN_BYTES = 2_000
"""Smaller files are icons."""
_PICTURES = frozenset({".jpg", ".png", ".webp", ".gif"})
_TEXTS = frozenset({".txt", ".gz"})

Way = Literal["search", "page", "comparison"]
Same = Callable[[Sequence[Path]], Sequence[bool | None]]
"""Which of these files are the task picture; None: not known."""


@dataclass(frozen=True)
class Copy:
    """A copy, and the texts beside it: `title` also holds a search hit's source and snippet.

    `page_text` is of the page around it, where the agent opened that.
    """

    way: Way
    url: str
    title: str = ""
    page_text: str = ""


def copies_of(events: Iterable[Event], blobs: BlobStore, same: Same) -> list[Copy]:
    """Each copy once; `blobs` are those of the run."""
    trace = _Trace(list(events), blobs)
    found = [*trace.hits(), *trace.on_pages(same), *trace.compared()]
    return list({(copy.url, copy.title): copy for copy in reversed(found)}.values())[::-1]


class _Trace:
    """The events of an episode, and the pages that it opened."""

    def __init__(self, events: list[Event], blobs: BlobStore) -> None:
        self._events = events
        self._blobs = blobs
        self._opened = [event for event in events if isinstance(event, Egress) and event.http == 200]
        self._calls = {event.call: event for event in events if isinstance(event, ToolCall)}
        self._results = [event for event in events if isinstance(event, ToolResult)]
        claimed = [hit for event in self._results for hit in _hits(event.data)]
        self._hits = [*(hit for hit in claimed), *(_noted(e) for e in events if isinstance(e, SamePicture))]

    def hits(self) -> Iterator[Copy]:
        """Results of a search by picture; the gateway's own word, and the tool's where there is none."""
        for hit in self._hits:
            if hit.get("same_picture") is True:
                yield self._of_hit("search", hit)

    def compared(self) -> Iterator[Copy]:
        """Found pictures that the agent put beside the task's, when that showed the same picture."""
        for result in self._results:
            call = self._calls.get(result.call)
            data, arguments = result.data, call.arguments if call else None
            if not isinstance(data, dict) or data.get("same_picture") is not True or "hits" in data:
                continue
            other = str(arguments.get("other") or "") if isinstance(arguments, dict) else ""
            hit = next((hit for hit in self._hits if other and hit.get("image") == other), None)
            if other:
                yield self._of_hit("comparison", hit) if hit else Copy("comparison", other)

    def on_pages(self, same: Same) -> Iterator[Copy]:
        """Pictures among what was fetched; not the thumbnails of hits, which were looked at before."""
        seen = {_bare(str(hit.get("thumbnail") or "")) for hit in self._hits}
        files = [(event, path) for event in self._opened if (path := self._path(event, _PICTURES))]
        fresh = {path: event for event, path in files if _bare(event.url) not in seen and _is_large(path)}
        paths = list(fresh)[:MAX_PICTURES]
        for path, is_same in zip(paths, same(paths) if paths else [], strict=True):
            if is_same:
                yield Copy("page", fresh[path].url, page_text=self._around(fresh[path]))

    def _of_hit(self, way: Way, hit: dict[str, Any]) -> Copy:
        url = str(hit.get("page") or hit.get("url") or "")
        texts = (str(hit.get(name) or "") for name in ("title", "snippet", "source"))
        return Copy(way, url, " · ".join(text for text in texts if text), self._text_of(url))

    def _text_of(self, url: str) -> str:
        """What the agent saw of a page that it opened; "" when it did not."""
        page = _bare(url)
        if not page:
            return ""
        fetched = (self._text(event) for event in self._opened if _bare(event.url) == page)
        told = (result.text for result in self._results if self._asked_for(result) == page)
        return "\n".join(text for text in (*fetched, *told) if text)

    def _around(self, picture: Egress) -> str:
        """The text of the page that was opened before a picture and names its file."""
        name = unquote(picture.url.partition("?")[0]).rpartition("/")[2]
        earlier = [event for event in self._opened if event.seq < picture.seq]
        for event in reversed(earlier):
            raw = self._raw(event)
            if name and name in unquote(raw):
                return self._text(event)
        return ""

    def _asked_for(self, result: ToolResult) -> str:
        call = self._calls.get(result.call)
        arguments = call.arguments if call else None
        return _bare(str(arguments.get("url") or "")) if isinstance(arguments, dict) else ""

    def _text(self, event: Egress) -> str:
        raw = self._raw(event)
        if not raw:
            return ""
        try:
            read = read_page(raw.encode("utf-8", "replace"), Page(event.url, event.url, 200))
        except ToolError:
            return ""
        return f"{read.title}\n{read.whole or read.text}"

    def _raw(self, event: Egress) -> str:
        """The body of a page of text, as it was kept."""
        return self._blobs.get_text(event.blob) if event.blob and self._path(event, _TEXTS) else ""

    def _path(self, event: Egress, suffixes: frozenset[str]) -> Path | None:
        try:
            path = self._blobs.path(event.blob or "")
        except KeyError:
            return None
        return path if path.suffix in suffixes else None


def _hits(data: Any) -> Iterator[dict[str, Any]]:
    rows = data.get("hits") if isinstance(data, dict) else None
    return (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else iter(())


def _noted(event: SamePicture) -> dict[str, Any]:
    return {**event.model_dump(), "same_picture": True}


def _is_large(path: Path) -> bool:
    return path.stat().st_size >= MIN_BYTES


def _bare(url: str) -> str:
    """An address without what does not tell pages apart; "" when it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # half an IPv6 address
        return ""
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}" if parts.netloc else ""
