"""Look for gold answers inside an image, from outside: nothing of it is run, and no phrase enters it.

A container is created (never started) and exported twice as a stream: once to learn which files are
verifiably public, once to search the others. Public is a file whose digest stands in Debian's `md5sums` or
in a wheel's `RECORD`, bytecode of such a file, and the package manager's own lists. Not searched: text that
is compressed or not UTF-8.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import posixpath
import re
import tarfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from docker import DockerClient

Members = Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]

CHUNK_BYTES = 1 << 20
OVERLAP_BYTES = 4096  # longer than any phrase: a phrase across two chunks is whole in the second
MANIFEST_BYTES = 64 << 20

WORD = re.compile(r"[^\W_]+")
FIRST_UNSPACED = "\u2e80"  # from here on (Chinese, Japanese, Korean) words are not set apart by spaces
DPKG_INFO = "var/lib/dpkg/info/"
PACKAGE_MANAGER = ("var/lib/dpkg/", "var/lib/apt/")
USR_MERGED = ("bin/", "sbin/", "lib/", "lib64/")  # Debian's lists still name these without usr/


@dataclass(frozen=True, order=True)
class Hit:
    """A phrase in the name (path) or the content of a file of the image."""

    path: str
    phrase: str
    where: Literal["name", "content"]


def scan(client: DockerClient, image: str, phrases: Iterable[str]) -> list[Hit]:
    """Every phrase found as whole words (case and width ignored) in a file that is not verifiably public."""
    searched = Phrases(phrases)
    with _created(client, image) as container_id:
        public = _public_paths(_members(client, container_id))
        hits: set[Hit] = set()
        for member, content in _members(client, container_id):
            if member.name not in public and not member.name.startswith(PACKAGE_MANAGER):
                hits |= {Hit(member.name, phrase, "name") for phrase in searched.within(member.name)}
                hits |= {
                    Hit(member.name, phrase, "content") for phrase in _in_content(searched, member, content)
                }
    return sorted(hits)


class Phrases:
    """Finds many phrases in a text at once."""

    def __init__(self, phrases: Iterable[str]) -> None:
        by_words = {" ".join(_words(phrase)): phrase for phrase in phrases}
        by_words.pop("", None)
        self._unspaced = {words: p for words, p in by_words.items() if max(words) >= FIRST_UNSPACED}
        self._by_first_word: dict[str, list[tuple[str, str]]] = {}
        for words, phrase in by_words.items():
            if words not in self._unspaced:
                self._by_first_word.setdefault(words.split(" ", 1)[0], []).append((f" {words} ", phrase))

    def within(self, text: str) -> set[str]:
        """The phrases, as they were given, that the text contains."""
        return self.within_words(_words(text))

    def within_words(self, words: list[str]) -> set[str]:
        """As `within`, for a text already cut into normal words."""
        joined = f" {' '.join(words)} "
        found = {phrase for wanted, phrase in self._unspaced.items() if wanted in joined}
        for first in self._by_first_word.keys() & set(words):
            found |= {phrase for wanted, phrase in self._by_first_word[first] if wanted in joined}
        return found


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _in_content(searched: Phrases, member: tarfile.TarInfo, content: IO[bytes] | None) -> set[str]:
    if content is None:
        return searched.within(member.linkname)
    found: set[str] = set()
    kept, at_start, left = b"", True, member.size
    while chunk := content.read(CHUNK_BYTES):
        left -= len(chunk)
        block, at_end = kept + chunk, left == 0
        text = block.decode("utf-8", errors="replace")
        # a word that an edge may have cut is left out: it is whole in the neighbouring block
        first = 1 if not at_start and WORD.match(text[0]) else 0
        last = -1 if not at_end and WORD.match(text[-1]) else None
        found |= searched.within_words(_words(text)[first:last])
        kept, at_start = block[-OVERLAP_BYTES:], False
    return found


# --- what is public -------------------------------------------------------------------------------


@dataclass
class _Manifests:
    """What package managers say of their files: digests by path, and names of links and folders."""

    digests: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def read(self, path: str, content: bytes) -> None:
        text = content.decode("utf-8", errors="replace")
        if path.endswith(".md5sums"):
            for line in text.splitlines():
                digest, _, name = line.partition("  ")
                self.digests[_merged(name)] = digest
        elif path.endswith(".list"):
            self.names.update(_merged(line.lstrip("/")) for line in text.splitlines())
        else:
            self._read_record(posixpath.dirname(posixpath.dirname(path)), text)

    def _read_record(self, site_packages: str, text: str) -> None:
        for name, digest, _ in csv.reader(io.StringIO(text)):
            if digest.startswith("sha256="):
                self.digests[posixpath.normpath(posixpath.join(site_packages, name))] = digest


def _merged(name: str) -> str:
    return f"usr/{name}" if name.startswith(USR_MERGED) else name


def _is_manifest(path: str) -> bool:
    if path.startswith(DPKG_INFO):
        return path.endswith((".md5sums", ".list"))
    return path.endswith(".dist-info/RECORD")


def _public_paths(members: Members) -> set[str]:
    manifests, digests, others = _Manifests(), dict[str, tuple[str, str]](), set[str]()
    for member, content in members:
        if content is None:
            others.add(member.name)
        elif _is_manifest(member.name) and member.size < MANIFEST_BYTES:
            data = content.read()
            manifests.read(member.name, data)
            digests[member.name] = _digests(io.BytesIO(data))
        else:
            digests[member.name] = _digests(content)
    verified = {path for path, known in digests.items() if manifests.digests.get(path) in known}
    bytecode = {path for path in digests if path.endswith(".pyc") and _source(path) in verified}
    records = {path for path in digests if path.endswith(".dist-info/RECORD")}
    return verified | bytecode | records | (others & manifests.names)


def _digests(content: IO[bytes]) -> tuple[str, str]:
    """A file's digest as Debian writes it and as a wheel writes it."""
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    while chunk := content.read(CHUNK_BYTES):
        md5.update(chunk)
        sha256.update(chunk)
    return md5.hexdigest(), "sha256=" + base64.urlsafe_b64encode(sha256.digest()).rstrip(b"=").decode()


def _source(bytecode: str) -> str:
    """`a/__pycache__/b.cpython-311.pyc` -> `a/b.py`."""
    folder, name = posixpath.split(bytecode)
    return posixpath.join(posixpath.dirname(folder), name.split(".", 1)[0] + ".py")


# --- the image as a stream of files ---------------------------------------------------------------


@contextmanager
def _created(client: DockerClient, image: str) -> Iterator[str]:
    container = client.containers.create(
        image, ["true"], labels={"fieldmark": "goldscan"}, network_mode="none"
    )
    try:
        yield str(container.id)
    finally:
        container.remove(force=True)


def _members(client: DockerClient, container_id: str) -> Members:
    """Every file, link and folder of the container; its content is to be read before the next is taken."""
    chunks = cast("Iterator[bytes]", client.containers.get(container_id).export(chunk_size=CHUNK_BYTES))
    with tarfile.open(fileobj=io.BufferedReader(_Stream(chunks), CHUNK_BYTES), mode="r|") as tar:
        for member in tar:
            yield member, tar.extractfile(member) if member.isreg() else None


class _Stream(io.RawIOBase):
    """A readable file over an iterator of chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._rest = self._rest or next(self._chunks, b"")
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)
