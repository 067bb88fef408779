"""How SerpApi's engines name what they are asked and where they put what they found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

LENS = "google_lens"
PICTURE_ENGINES = frozenset({LENS, "google_reverse_image", "bing_reverse_image", "yandex_images"})
"""Engines that are asked with a picture, so not with words."""
LANGUAGE, COUNTRY = re.compile(r"[a-z]{2}(-[A-Za-z]{2,4})?"), re.compile(r"[A-Za-z]{2}")
"""ISO 639-1, with a region where it matters (zh-TW), and ISO 3166-1."""

_LISTS = ("organic_results", "web_results", "video_results", "images_results", "news_results",
          "shopping_results")  # fmt: skip
_TITLE, _SNIPPET, _URL = 200, 400, 1_000  # characters that are kept
_COUNTRIES = {
    "ar": "sa", "cs": "cz", "da": "dk", "de": "de", "el": "gr", "en": "us", "es": "es", "fi": "fi",
    "fr": "fr", "he": "il", "hi": "in", "hu": "hu", "id": "id", "it": "it", "ja": "jp", "ko": "kr",
    "nl": "nl", "no": "no", "pl": "pl", "pt": "br", "ro": "ro", "ru": "ru", "sv": "se", "th": "th",
    "tr": "tr", "uk": "ua", "vi": "vn", "zh": "cn",
}  # fmt: skip

Locale = Callable[[str, str], dict[str, str]]


def known_language(label: str) -> str:
    """The language of a question as its benchmark labels it, English where the label is no code."""
    return label if LANGUAGE.fullmatch(label) else "en"


def country_of(language: str) -> str:
    """The country that a language is searched from when none is named; "" where none stands out."""
    named = language.partition("-")[2]
    return named.lower() if len(named) == 2 else _COUNTRIES.get(language[:2], "")


def _google(language: str, country: str) -> dict[str, str]:
    chinese = "zh-tw" if country in ("tw", "hk") else "zh-cn"
    return {"hl": chinese if language[:2] == "zh" else language[:2], "gl": country}


def _bing(language: str, country: str) -> dict[str, str]:
    return {"mkt": f"{language[:2]}-{country.upper()}" if country else ""}


def _duckduckgo(language: str, country: str) -> dict[str, str]:
    return {"kl": f"{'uk' if country == 'gb' else country}-{language[:2]}" if country else ""}


def _yahoo(language: str, country: str) -> dict[str, str]:
    return {"vc": country}


def _yandex(language: str, country: str) -> dict[str, str]:
    return {"lang": language[:2]}


def _nothing(language: str, country: str) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Engine:
    """`query` is the engine's name for the words, `locale` what it is told of language and country."""

    query: str = "q"
    locale: Locale = _nothing


_ENGINES = {
    "google": Engine(locale=_google),
    "google_light": Engine(locale=_google),
    "google_images": Engine(locale=_google),
    "google_news": Engine(locale=_google),
    "google_shopping": Engine(locale=_google),
    "google_scholar": Engine(locale=lambda language, country: {"hl": language[:2]}),
    "bing": Engine(locale=_bing),
    "bing_images": Engine(locale=_bing),
    "duckduckgo": Engine(locale=_duckduckgo),
    "yahoo": Engine("p", _yahoo),
    "yandex": Engine("text", _yandex),
    "youtube": Engine("search_query", _google),
    "naver": Engine("query"),
    "walmart": Engine("query"),
    "ebay": Engine("_nkw"),
}
"""Engines that differ from `q` and nothing else; Baidu, which knows no language but its own, does not."""


def search_params(engine: str, query: str, language: str, country: str) -> dict[str, str]:
    """What SerpApi is asked, without the key. An engine that is not listed here is asked by `q` alone."""
    known = _ENGINES.get(engine, Engine())
    asked = {"engine": engine, known.query: query, **known.locale(language, country)}
    return {name: value for name, value in asked.items() if value}


def lens_params(language: str, country: str) -> dict[str, str]:
    """What Google Lens is asked beside the picture."""
    asked = {"engine": LENS, "type": "all", "hl": _google(language, country)["hl"], "country": country}
    return {name: value for name, value in asked.items() if value}


def web_hits(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """`{title, url, snippet, source}` of a reply, in its order; rows without title or address are dropped."""
    return [
        {
            "title": _text(row.get("title"), _TITLE),
            "url": _url(row.get("link")),
            "snippet": _text(row.get("snippet") or row.get("description"), _SNIPPET),
            "source": _source(row),
        }
        for row in _rows(reply, *_LISTS)
    ]


def lens_hits(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """`{title, page, source, thumbnail, image}`, exact matches first, each page once."""
    hits: dict[str, dict[str, Any]] = {}
    for row in [*_rows(reply, "exact_matches"), *_rows(reply, "visual_matches")]:
        page = _url(row.get("link"))
        hits.setdefault(
            page,
            {
                "title": _text(row.get("title"), _TITLE),
                "page": page,
                "source": _source(row),
                "thumbnail": _url(row.get("thumbnail")),
                "image": _url(row.get("image")),
            },
        )
    return list(hits.values())


def _rows(reply: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """The first of these lists that holds a result."""
    for name in names:
        found = list(_results(reply.get(name)))
        if found:
            return found
    return []


def _results(value: Any) -> Iterator[dict[str, Any]]:
    for row in value if isinstance(value, list) else []:
        if isinstance(row, dict) and _text(row.get("title"), _TITLE) and _url(row.get("link")):
            yield row


def _source(row: dict[str, Any]) -> str:
    """The site as the engine names it, else its host."""
    named = row.get("source") or row.get("displayed_link")
    return _text(named, 100) if isinstance(named, str) else urlsplit(_url(row.get("link"))).netloc[:100]


def _text(value: Any, limit: int) -> str:
    return " ".join(value.split())[:limit] if isinstance(value, str) else ""


def _url(value: Any) -> str:
    """An address of the web, "" for anything else (data: pictures among it)."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    is_web = parts.scheme in ("http", "https") and parts.netloc and len(value) <= _URL
    return str(value) if is_web else ""
