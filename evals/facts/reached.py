"""Whether the agent came to a page that gold rests on: returned in a result, or opened.

An address that the agent wrote itself is reached only when it was opened. Compared is the address without
what does not tell pages apart: scheme, `www.`, port 80 or 443, fragment, percent-encoding, a slash at the
end and the order of the query. Two addresses are of one domain when the registrable part of their hosts is
the same (Public Suffix List); the pictures and scripts of a page are no page of its domain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from fieldmark.evals.facts.results import Result
from fieldmark.evals.facts.text import strings
from fieldmark.trace import Egress, Event

_URL = re.compile(r"https?://[^\s<>\"'`|\\^，。、；：！？）】」》]{1,2000}", re.IGNORECASE)
_OPENS = frozenset({"open_page", "browser"})
_PARTS_OF_PAGES = frozenset(
    ".avif .bmp .css .gif .ico .jpeg .jpg .js .json .mp4 .png .svg .tif .tiff .ttf .webp .woff .woff2".split()
)


@dataclass(frozen=True)
class Reached:
    """`page` and `domain` are the `seq` of the first event that shows it, None where none does."""

    page: int | None
    domain: int | None


def evidence_of(links: Iterable[str]) -> list[str]:
    """The links of gold that are web addresses; other evidence cannot be reached."""
    return [link for link in links if link.strip().lower().startswith(("http://", "https://"))]


def reached(links: Sequence[str], events: Iterable[Event], results: Iterable[Result]) -> Reached:
    """`events` and `results` are those before the answer."""
    pages = {page for link in links if (page := page_key(link))}
    domains = {domain for link in links if (domain := domain_of(link))}
    opened = [(event.seq, event.url) for event in events if isinstance(event, Egress) and _is_here(event)]
    told = [(result.seq, url) for result in results for url in _told(result)]
    at_page = at_domain = None
    for seq, url in sorted(set(opened + told)):
        if at_page is None and page_key(url) in pages:
            at_page = seq
        if at_domain is None and _is_page(url) and domain_of(url) in domains:
            at_domain = seq
    firsts = [seq for seq in (at_page, at_domain) if seq is not None]
    return Reached(at_page, min(firsts, default=None))


def page_key(url: str) -> str:
    """What two spellings of one address have in common; "" when it is none."""
    parts = _split(url)
    if parts is None:
        return ""
    host = (parts.hostname or "").removeprefix("www.")
    query = "&".join("=".join(pair) for pair in sorted(parse_qsl(parts.query, keep_blank_values=True)))
    path = unquote(parts.path).rstrip("/")
    return unicodedata.normalize("NFC", f"{_unicode(host)}{_port(parts)}{path}?{query}")


def domain_of(url: str) -> str:
    """The registrable domain of an address: `bbc.co.uk`; its host where the list knows none."""
    from tld import get_fld

    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    host = _unicode(parts.hostname)
    found = get_fld(f"http://{host}/", fail_silently=True, search_private=True)
    return str(found) if found else host.removeprefix("www.")


def urls_in(text: str) -> Iterator[str]:
    """The web addresses of a text, without the signs that end a sentence or a link around them."""
    for match in _URL.finditer(text):
        url = match.group().rstrip(".,;:!?*_")
        while url.endswith((")", "]", "}")) and url.count(url[-1]) > url.count("([{"[")]}".index(url[-1])]):
            url = url[:-1].rstrip(".,;:!?*_")
        yield url


def _told(result: Result) -> Iterator[str]:
    """The addresses in a result, but for those that the agent had written and that were not opened."""
    own = {page_key(url) for url in _all_urls(result.call.arguments)}
    opened = result.event.ok and result.call.action in _OPENS
    data = result.event.data
    if opened and isinstance(data, dict) and isinstance(code := data.get("http"), int):
        opened = code < 400
    yield from (url for url in _all_urls([result.event.text, data]) if page_key(url) not in own)
    if opened:
        yield from _all_urls(result.call.arguments)


def _all_urls(value: object) -> Iterator[str]:
    return (url for text in strings(value) for url in urls_in(text))


def _is_here(event: Egress) -> bool:
    return event.decision in ("allowed", "replayed") and event.http is not None and 200 <= event.http < 400


def _is_page(url: str) -> bool:
    parts = _split(url)
    return parts is not None and PurePosixPath(parts.path.lower()).suffix not in _PARTS_OF_PAGES


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        return parts if parts.hostname and parts.scheme.lower() in ("http", "https") else None
    except ValueError:  # half an IPv6 address
        return None


def _port(parts: SplitResult) -> str:
    try:
        port = parts.port
    except ValueError:  # no number
        return ""
    return f":{port}" if port not in (None, 80, 443) else ""


def _unicode(host: str) -> str:
    """`xn--…` as it is read; as it is where it cannot be."""
    if "xn--" not in host:
        return host
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host
