"""Record and replay: what is kept, what a kill leaves, and who may write at once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.exchange import Exchange

URL = "https://guide.example/a?x=1"


def page(body: bytes = b"<p>x</p>", url: str = URL) -> Exchange:
    return Exchange(url, 200, "text/html; charset=utf-8", body, headers={"content-language": "en"})


def test_what_is_put_comes_back_from_disk(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path / "web", write=True)
    redirect = Exchange("https://guide.example/old", 302, location=URL)
    for exchange in (page(), redirect, Exchange("https://guide.example/204", 204)):
        archive.put("GET", exchange)
    again = Archive.open(tmp_path / "web")
    assert again.get("GET", URL) == page()
    assert again.get("HEAD", URL) == page()
    assert again.get("GET", redirect.url) == redirect
    assert again.get("GET", "https://guide.example/a?x=2") is None
    assert again.sha256() == archive.sha256()
    assert (again.uses.hits, again.uses.misses) == (3, 1)
    assert list(again.uses.missing) == ["https://guide.example/a?x=2"]


def test_bodies_are_stored_once_under_their_hash_and_the_newest_row_counts(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path, write=True)
    before = archive.sha256()
    for body in (b"old", b"new", b"new"):
        archive.put("GET", page(body))
    assert archive.sha256() != before
    kept = Archive.open(tmp_path).get("GET", URL)
    assert kept is not None
    assert kept.body == b"new"
    assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 2


def test_a_torn_tail_is_left_out_and_cut_by_the_next_writer(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path, write=True)
    archive.put("GET", page())
    whole = (tmp_path / "index.jsonl").read_bytes()
    (tmp_path / "index.jsonl").write_bytes(whole + b'{"key":"GET https://gu')
    assert len(Archive.open(tmp_path)) == 1
    Archive.open(tmp_path, write=True).put("GET", page(url="https://guide.example/b"))
    rows = [json.loads(line) for line in (tmp_path / "index.jsonl").read_text().splitlines()]
    assert [row["url"] for row in rows] == [URL, "https://guide.example/b"]
    (tmp_path / "index.jsonl").write_bytes(whole.rstrip(b"\n"))  # whole, but for its newline
    Archive.open(tmp_path, write=True).put("GET", page(url="https://guide.example/c"))
    assert len(Archive.open(tmp_path)) == 2


def test_a_body_that_is_lost_or_changed_is_a_miss(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path, write=True)
    archive.put("GET", page())
    [blob] = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    blob.write_bytes(b"changed")
    assert archive.get("GET", URL) is None
    blob.unlink()
    assert archive.get("GET", URL) is None
    assert archive.uses.missing[URL] == 2


def test_threads_write_at_once(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path, write=True)

    def write(number: int) -> None:
        for i in range(50):
            archive.put("GET", page(b"shared %d" % (i % 5), f"https://guide.example/{number}/{i}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Archive.open(tmp_path)
    assert len(again) == 400
    assert all(again.get("GET", f"https://guide.example/{n}/{i}") for n in range(8) for i in range(50))
    assert again.sha256() == archive.sha256()


def test_a_folder_that_is_no_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no web archive"):
        Archive.open(tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be used"):
        Archive.open(tmp_path / "file", write=True)
