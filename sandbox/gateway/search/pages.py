"""Full-text search over the pages of a site in a folder: SQLite FTS5 in memory, ranked by BM25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fieldmark.errors import ToolError, UsageError
from fieldmark.sandbox.gateway.web.policy import Target
from fieldmark.sandbox.gateway.web.site import INDEX, Site
from fieldmark.tools.context import Page
from fieldmark.tools.pages.page_text import PageText, read_page

_READ = frozenset({".html", ".htm", ".txt", ".md", ".pdf"})
_TITLE, _SNIPPET_TOKENS = 200, 40
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WIDE = f"{_CJK}\\u3000-\\u303f\\uff00-\\uffef"  # and their punctuation
_RUN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}_]+")
_STOP = frozenset(
    "a an and are as at be by can do does for from how i in is it its of on or that the these this to was "
    "what when where which who why with".split()
)
_COLUMNS = "CREATE VIRTUAL TABLE pages USING fts5(title, body, url UNINDEXED, host UNINDEXED, {tokens})"
_SEARCH = """
SELECT title, url, host, snippet(pages, 1, '', '', ' … ', ?) FROM pages WHERE pages MATCH ?
ORDER BY bm25(pages, 4.0, 1.0), url LIMIT ?
"""


class SitePages:
    """The readable pages of a site, indexed once. Chinese, Japanese and Korean are matched by pairs of
    characters, other scripts by words and their English stems.
    """

    def __init__(self, site: Site) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._database.execute(
                _COLUMNS.format(tokens="tokenize = 'porter unicode61 remove_diacritics 2'")
            )
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"this Python's SQLite cannot search texts ({error}): leave --search out"
            ) from None
        with self._database:
            self._database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", _indexed(site))

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM pages").fetchone()[0])

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """`{title, url, snippet, source}` of the best pages that hold one of the words, best first."""
        expression = _expression(query)
        if not expression:
            return []
        found = self._database.execute(_SEARCH, (_SNIPPET_TOKENS, expression, limit))
        return [
            {"title": _joined(title), "url": url, "snippet": _joined(snippet), "source": host}
            for title, url, host, snippet in found
        ]


def _indexed(site: Site) -> Iterator[tuple[str, str, str, str]]:
    """Title, text, address and host of each page that has a text."""
    for host in sorted(path for path in site.folder.iterdir() if path.is_dir()):
        for file in sorted(path for path in host.rglob("*") if path.suffix.lower() in _READ):
            url = _address(host, file)
            content = _read(site, host.name.lower(), url)
            if content and content.text:
                title, body = _titled(content)
                yield _spaced(title[:_TITLE]), _spaced(_plain(body)), url, host.name.lower()


def _read(site: Site, host: str, url: str) -> PageText | None:
    """What `open_page` would read at this address."""
    found = site.get(Target(url, "https", host, 443))
    try:
        return (
            read_page(found.body, Page(url, url, found.http, found.media_type)) if found.http == 200 else None
        )
    except ToolError:  # a page that cannot be read is not found
        return None


def _titled(content: PageText) -> tuple[str, str]:
    """Title and text of a page, without a first line that says the title again."""
    first, _, rest = content.text.partition("\n")
    title = content.title or first.lstrip("# ")
    return title, rest if first.lstrip("# ") == title and rest.strip() else content.text


def _address(host: Path, file: Path) -> str:
    path = file.relative_to(host).as_posix()
    return f"https://{host.name.lower()}/{quote(path.removesuffix(INDEX))}"


def _plain(markdown: str) -> str:
    """Without the marks of headings, links and tables."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"(?m)^- |[#*|]+", " ", text).split())


def _spaced(text: str) -> str:
    """Each character of a script without blanks as a word of its own."""
    return re.sub(f"([{_CJK}])", r" \1 ", text)


def _joined(text: str) -> str:
    """`_spaced` undone."""
    return re.sub(f"(?<=[{_WIDE}]) +(?=[{_WIDE}])", "", " ".join(text.split()))


def _expression(query: str) -> str:
    """Any of the words, or of the pairs of neighbouring characters; "" when there is nothing to look for."""
    runs = _RUN.findall(query)
    words = [run for run in runs if run.lower() not in _STOP] or runs
    return " OR ".join(f'"{term}"' for word in words for term in _terms(word))


def _terms(word: str) -> list[str]:
    if not re.match(f"[{_CJK}]", word):
        return [word]
    return [" ".join(word[start : start + 2]) for start in range(max(1, len(word) - 1))]
