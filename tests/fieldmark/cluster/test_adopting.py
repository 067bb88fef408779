"""A file that a node sends is taken for what its name says, and for nothing else."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from fieldmark.blobs import BlobStore

TEXT = b"a long text " * 100
NAME = hashlib.sha256(TEXT).hexdigest()


def test_what_another_store_wrote_is_read_as_its_own(tmp_path: Path) -> None:
    there, here = (BlobStore(tmp_path / name) for name in ("there", "here"))
    for store in (there, here):
        store.folder.mkdir()
    digests = [there.put_text(TEXT.decode()), there.put(b"\x89PNG", "image/png"), there.put_text("short")]
    for path in there.folder.iterdir():
        here.adopt(path.name, path.read_bytes())
    assert [here.get(digest) for digest in digests] == [TEXT, b"\x89PNG", b"short"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (f"{NAME}.txt", b"another text"),
        (f"{NAME}.txt.gz", gzip.compress(b"another text")),
        (f"{NAME}.txt.gz", b"no gzip at all"),
        (f"../{NAME}.txt", TEXT),
        (f"{NAME}.txt/../../run.json", TEXT),
        (f"{NAME}.sh", TEXT),
        ("run.json", TEXT),
    ],
    ids="other packed-other no-gzip above beyond no-such-kind no-digest".split(),
)
def test_what_is_not_its_name_or_leads_elsewhere_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / "blobs").mkdir()
    with pytest.raises(KeyError):
        BlobStore(tmp_path / "blobs").adopt(name, data)
    assert [path.name for path in tmp_path.rglob("*")] == ["blobs"]
