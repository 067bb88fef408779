"""A static site in a folder: `http://HOST/PATH` is the file `<folder>/HOST/PATH`. Nothing goes out for it."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from urllib.parse import unquote

from yarl import URL

from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.web.exchange import Exchange
from fieldmark.sandbox.gateway.web.policy import Target

INDEX = "index.html"
_TYPES = {".html": "text/html", ".htm": "text/html", ".txt": "text/plain", ".md": "text/markdown",
          ".pdf": "application/pdf", ".json": "application/json", ".webp": "image/webp"}  # fmt: skip


class Site:
    """Each folder of `folder` is a host, served on any port, by http and https; text is UTF-8.

    A folder gives its `index.html`, a path without an ending also finds `<path>.html`. The query is ignored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            raise UsageError(f"--site {folder} is not a folder: name one that holds a folder for each host")
        self.hosts = frozenset(path.name.lower() for path in self.folder.iterdir() if path.is_dir())
        if not self.hosts:
            raise UsageError(f"--site {folder} is empty: it holds a folder for each host (guide.example/)")

    def __contains__(self, host: str) -> bool:
        return host in self.hosts

    def get(self, target: Target) -> Exchange:
        """The file of a URL, or 404. Links that lead out of the folder lead nowhere."""
        path = self._file(target)
        try:
            body = path.read_bytes() if path else None
        except OSError:
            body = None
        if path is None or body is None:
            return Exchange(target.url, 404, "text/plain; charset=utf-8", b"no such page on this site")
        return Exchange(target.url, 200, _media_type(path), body)

    def sha256(self) -> str:
        """One hash of all files and their paths."""
        digest = hashlib.sha256()
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file()):
            name = path.relative_to(self.folder).as_posix()
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
        return digest.hexdigest()

    def _file(self, target: Target) -> Path | None:
        path = unquote(URL(target.url).raw_path).strip("/")
        if "\0" in path:
            return None
        asked = (self.folder / target.host / path).resolve()
        if not asked.is_relative_to(self.folder / target.host):
            return None
        choices = (asked, asked / INDEX, asked.with_name(f"{asked.name}.html"))
        return next((choice for choice in choices if _is_file(choice)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _media_type(path: Path) -> str:
    guessed = _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
    media_type = guessed or "application/octet-stream"
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
