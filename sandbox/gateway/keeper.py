"""What one episode may make the host store: blobs, within an allowance of bytes and of files."""

from __future__ import annotations

import hashlib
import threading

from fieldmark.blobs import BlobStore
from fieldmark.sandbox.gateway.replies import Refused

MAX_STORED_BYTES = 200 * 10**6
MAX_STORED_BLOBS = 20_000


class Keeper:
    """Stores for one episode; any thread may. The same content again costs nothing. OSError: disk."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._known: set[bytes] = set()
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, data: bytes, media_type: str) -> str:
        """Store bytes; returns their sha256. Refused (413) when the allowance is used up."""
        self._charge(data)
        return self._blobs.put(data, media_type)

    def put_text(self, text: str) -> str:
        """Store a text; returns the sha256 of its UTF-8 bytes. Refused (413) as for `put`."""
        self._charge(text.encode("utf-8", "replace"))
        return self._blobs.put_text(text)

    def get(self, blob: str) -> bytes:
        """The bytes of a blob of the run; KeyError when there is none."""
        return self._blobs.get(blob)

    def _charge(self, data: bytes) -> None:
        digest = hashlib.sha256(data).digest()
        with self._lock:
            if digest in self._known:
                return
            if self._bytes + len(data) > MAX_STORED_BYTES or len(self._known) >= MAX_STORED_BLOBS:
                what = f"{MAX_STORED_BYTES} bytes or {MAX_STORED_BLOBS} blobs per episode"
                raise Refused(413, "too_large", f"over the limit of {what}")
            self._known.add(digest)
            self._bytes += len(data)
