"""Searches by picture for `curate leakage`: Google Lens by SerpApi, or a local index in its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.errors import SearchFault, ToolError
from fieldmark.evals.curation.leakage.finding import MOST, Found, ReadPage, Search, in_index
from fieldmark.sandbox.gateway.search.alone import reverser
from fieldmark.sandbox.gateway.web.alone import fetcher
from fieldmark.tools.pages.page_text import read_page


def local(index: Path, site: Path | None) -> Search:
    """In an index; pages that its labels name are read from `site`, a folder for each host."""
    return in_index(index, _reader(live=False, site=site))


def lens(key_env: str, site: Path | None = None) -> Search:
    """On the web: the picture is sent to SerpApi; pages and pictures are those of `site`, others are fetched
    under the usual policy.
    """
    reverse, fetch, read = reverser(key_env), fetcher(True, site), _reader(live=True, site=site)

    def picture(hit: dict[str, object]) -> bytes | None:
        for name in ("image", "thumbnail"):
            url = str(hit.get(name) or "")
            if url.startswith(("http://", "https://")):
                try:
                    body, page = fetch(url)
                except ToolError:
                    continue
                if page.http == 200:
                    return body
        return None

    def search(data: bytes) -> Iterator[Found]:
        try:
            hits = reverse(data, None, MOST)["hits"]
        except ToolError as error:
            raise SearchFault(f"{error}: call again, what is done is kept") from None
        for hit in hits:
            page = str(hit.get("page") or "")
            text = read(page) if page else None
            yield Found("google_lens", page, str(hit.get("title") or ""), picture(hit), text)

    return search


def _reader(*, live: bool, site: Path | None) -> ReadPage:
    fetch = fetcher(live, site)

    def read(url: str) -> str | None:
        try:
            body, page = fetch(url)
            text = read_page(body, page)
        except ToolError:
            return None
        return f"{text.title}\n{text.whole or text.text}" if page.http == 200 and text.readable else None

    return read
