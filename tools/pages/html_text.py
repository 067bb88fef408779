"""HTML → what a reader sees of it: all of it, and the main text without the furniture of the site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urljoin

MAX_HTML = 6_000_000
"""Characters of a page that are looked at."""
MAX_FOR_MAIN = 1_000_000
"""Above, the main text is not looked for: it would take longer than it is worth (5 s for 1.4 MB)."""

_DROPPED = "script style template noscript svg iframe object head select datalist"
_BLOCKS = frozenset(
    "address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tr ul".split()
)
_HIDDEN = (
    "self::*[@hidden] | self::*[contains(translate(@style, ' ', ''), 'display:none')]"
    " | self::*[contains(translate(@style, ' ', ''), 'visibility:hidden')]"
)
_SHORT = 2_000  # characters of a page that is read whole
_MAIN_AT_LEAST = 1_000  # characters of a main text that is worth more than the whole page
_SHARE = 0.5  # or this much of the whole
_ADDRESSES = re.compile(r"\]\([^)]*\)")


@dataclass(frozen=True)
class HtmlText:
    """`main` is None where the page has no main text that is told from the rest."""

    title: str
    whole: str
    main: str | None = None


def read_html(html: str, url: str) -> HtmlText:
    """The texts of a page; links as `[text](absolute URL)`. Never raises for what a page holds."""
    root = _parsed(html[:MAX_HTML])
    if root is None:
        return HtmlText("", "")
    title = " ".join(str(root.findtext(".//title") or "").split())
    _drop_unseen(root)
    whole = _visible_text(root, url) or _stripped(html[:MAX_HTML])
    main = _main_text(root, url) if len(whole) > _SHORT and len(html) <= MAX_FOR_MAIN else None
    return HtmlText(title[:300], whole, main if main and _is_enough(main, whole) else None)


def _parsed(html: str) -> Any:
    from lxml import etree
    from lxml.html import HTMLParser

    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(html.replace("\0", "").encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def _drop_unseen(root: Any) -> None:
    """Take out what no reader sees, but leave the text after it."""
    unseen = [*root.iter(*_DROPPED.split()), *root.xpath(f"//*[{_HIDDEN}]")]
    for element in unseen:
        parent = element.getparent()
        if parent is not None and element.tag != "body":
            before = element.getprevious()
            if element.tail and before is not None:
                before.tail = (before.tail or "") + element.tail
            elif element.tail:
                parent.text = (parent.text or "") + element.tail
            parent.remove(element)


def _visible_text(root: Any, url: str) -> str:
    from lxml import etree

    parts: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            parts.append(_before(element, name, url))
            parts.append(re.sub(r"\s+", " ", element.text or ""))
        else:
            parts.append(_after(element, name, url))
            parts.append(re.sub(r"\s+", " ", element.tail or ""))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line for line in lines if line not in ("-", "|"))).strip()


def _before(element: Any, name: str, url: str) -> str:
    if name == "img":
        return f" [image: {element.get('alt')}] " if element.get("alt") else ""
    if name == "a":
        return "[" if _absolute(url, element.get("href")) else ""
    if name in ("td", "th"):
        return " | "
    if name == "li":
        return "\n- "
    if name[:1] == "h" and name[1:].isdigit():
        return f"\n\n{'#' * int(name[1:])} "
    return "\n" if name in _BLOCKS else ""


def _after(element: Any, name: str, url: str) -> str:
    link = _absolute(url, element.get("href")) if name == "a" else ""
    if link:
        return f"]({link})"
    return "\n" if name in _BLOCKS and name not in ("li", "tr") else ""


def _absolute(base: str, href: str | None) -> str:
    """A link that can be opened, "" for any other."""
    if not href:
        return ""
    try:
        joined = urljoin(base, href.strip())
    except ValueError:
        return ""
    return joined[:500] if joined.startswith(("http://", "https://")) else ""


def _stripped(html: str) -> str:
    """The text of a page that the parser makes nothing of (elements nested by the thousand)."""
    bare = re.sub(r"(?is)<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^<>]*>", " ", html)
    return " ".join(unescape(bare).split())


def _main_text(root: Any, url: str) -> str | None:
    from copy import deepcopy

    import trafilatura

    try:
        found = trafilatura.extract(
            deepcopy(root), url=url, output_format="markdown", include_links=True, include_comments=True,
            favor_recall=True, deduplicate=False,
        )  # fmt: skip
    except Exception:  # whatever a page does to the extractor, its whole text is there
        return None
    return str(found).strip() if found else None


def _is_enough(main: str, whole: str) -> bool:
    length = len(_ADDRESSES.sub("", main))
    return length >= _MAIN_AT_LEAST or length >= _SHARE * len(_ADDRESSES.sub("", whole))
