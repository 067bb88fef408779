"""Copies in a trace: hits of a search, found pictures that were compared, pictures of opened pages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fieldmark.blobs import BlobStore
from fieldmark.evals.leaks.copies import Copy, copies_of
from fieldmark.trace import Event, parse_event

HIT = {"title": "Red square", "page": "https://a.example/p", "source": "a.example", "image": "index:3"}
PAGE = (
    "<html><head><title>Squares</title></head><body><p>A wall in <b>Leuven</b>.</p>"
    "<img src='/img/w.jpg'></body></html>"
)


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    store = BlobStore(tmp_path / "blobs")
    store.folder.mkdir()
    return store


def events(*rows: dict[str, Any]) -> list[Event]:
    return [parse_event({"seq": n, "t": 0.0, "by": "gateway", **row}) for n, row in enumerate(rows)]


def tool(
    call: str, name: str, arguments: dict[str, Any], text: str = "", **data: Any
) -> list[dict[str, Any]]:
    return [
        {"kind": "tool_call", "call": call, "name": name, "arguments": arguments, "door": "graph"},
        {"kind": "tool_result", "call": call, "ok": True, "seconds": 0.1, "text": text, "data": data},
    ]


def fetched(url: str, blob: str) -> dict[str, Any]:
    return {"kind": "egress", "method": "GET", "url": url, "http": 200, "decision": "allowed", "blob": blob}


def none(paths: Sequence[Path]) -> list[bool | None]:
    return [False for _ in paths]


def every(paths: Sequence[Path]) -> list[bool | None]:
    return [True for _ in paths]


def test_a_hit_is_one_copy_whether_gateway_or_tool_tell_of_it(blobs: BlobStore) -> None:
    searched = tool(
        "1", "reverse_image_search", {}, hits=[{**HIT, "same_picture": True}, {"same_picture": False}]
    )
    expected = [Copy("search", "https://a.example/p", "Red square · a.example")]
    assert copies_of(events({"kind": "same_picture", **HIT}), blobs, none) == expected
    assert copies_of(events({"kind": "same_picture", **HIT}, *searched), blobs, none) == expected
    assert copies_of(events(*searched), blobs, none) == expected  # an older trace


def test_a_comparison_shows_what_a_search_by_a_box_did_not(blobs: BlobStore) -> None:
    searched = tool("1", "reverse_image_search", {}, hits=[{**HIT, "same_picture": False}])
    by_name = tool("2", "compare_images", {"other": "index:3"}, same_picture=True)
    by_url = tool("3", "compare_images", {"other": "https://b.example/x.jpg"}, same_picture=True)
    other = tool("4", "compare_images", {"other": "index:4"}, same_picture=False)
    assert copies_of(events(*searched, *by_name, *by_url, *other), blobs, none) == [
        Copy("comparison", "https://a.example/p", "Red square · a.example"),
        Copy("comparison", "https://b.example/x.jpg"),
    ]


def test_the_page_of_a_hit_counts_with_its_text_once_it_was_opened(blobs: BlobStore) -> None:
    hit = {"kind": "same_picture", **HIT}
    opened = fetched("http://A.example/p/", blobs.put_text(PAGE))
    [copy] = copies_of(events(hit, opened), blobs, none)
    assert "Squares" in copy.page_text
    assert "A wall in Leuven." in copy.page_text
    read = tool("5", "open_page", {"url": "https://a.example/p"}, "A PDF says Leuven")
    assert "A PDF says" in copies_of(events(hit, *read), blobs, none)[0].page_text


def test_a_picture_of_a_page_counts_with_the_page_that_names_it(blobs: BlobStore) -> None:
    picture = blobs.put(os.urandom(3_000), "image/jpeg")
    icon = blobs.put(b"small", "image/png")
    rows = [
        fetched("https://a.example/", blobs.put_text(PAGE)),
        fetched("https://b.example/", blobs.put_text("<html><body>Another page</body></html>")),
        fetched("https://a.example/img/w.jpg?w=800", picture),
        fetched("https://a.example/icon.png", icon),
    ]
    [copy] = copies_of(events(*rows), blobs, every)
    assert (copy.way, copy.url) == ("page", "https://a.example/img/w.jpg?w=800")
    assert "A wall in Leuven." in copy.page_text
    assert copies_of(events(*rows), blobs, none) == []


def test_thumbnails_of_hits_are_not_looked_at_twice(blobs: BlobStore) -> None:
    thumbnail = fetched("https://t.example/1.jpg", blobs.put(os.urandom(3_000), "image/jpeg"))
    hit = {**HIT, "thumbnail": "https://t.example/1.jpg", "same_picture": False}
    assert (
        copies_of(events(thumbnail, *tool("1", "reverse_image_search", {}, hits=[hit])), blobs, every) == []
    )


def test_odd_calls_and_addresses_are_no_copies(blobs: BlobStore) -> None:
    odd = [
        *tool("1", "open_page", {"url": "http://[half"}), *tool("2", "compare_images", {}, same_picture=True),
        {"kind": "tool_result", "call": "9", "ok": True, "seconds": 0, "data": {"hits": ["a", {"title": 1}]}},
        fetched("http://[half", "no such blob"),
    ]  # fmt: skip
    assert copies_of(events(*odd), blobs, every) == []
