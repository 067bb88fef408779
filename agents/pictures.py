"""The bytes of pictures on their way to a model: fetched once through the gateway, kept within a bound."""

from __future__ import annotations

import base64
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from fieldmark.agents.messages import Part
from fieldmark.client import GatewayClient

if TYPE_CHECKING:
    from fieldmark.task import Prompt
    from fieldmark.tools.inside import GatewayContext

CACHE_BYTES = 48 * 1024 * 1024
"""Encoded bytes kept at most; what falls out is fetched again when it is needed."""


class Pictures:
    """Turns picture references into data URIs. Any thread may use it."""

    def __init__(self, gateway: GatewayClient, prompt: Prompt) -> None:
        self._gateway = gateway
        self._prompt = prompt
        self._bytes: OrderedDict[str, bytes] = OrderedDict()
        self._held: dict[str, bytes] = {}
        self._lock = Lock()

    def remember(self, blob: str, data: bytes) -> None:
        """Keep the bytes of a blob; the least recently used go first when the cache is full."""
        with self._lock:
            self._bytes[blob] = data
            self._bytes.move_to_end(blob)
            while sum(map(len, self._bytes.values())) > CACHE_BYTES and len(self._bytes) > 1:
                self._bytes.popitem(last=False)

    def hold(self, blob: str, data: bytes) -> None:
        """Keep the bytes of a blob to the end: it is no cut, and the gateway would not give it again."""
        with self._lock:
            self._held[blob] = data

    def data_uri(self, reference: Part) -> str:
        """A picture as the wire format wants it."""
        blob = str(reference["blob"])
        with self._lock:
            data = self._bytes.get(blob) or self._held.get(blob)
        if data is None:
            data = self._fetch(reference)
            self.remember(blob, data)
        return _uri(data, str(reference["media_type"]))

    def small_view(self, side: int) -> str:
        """The task picture with its longer side at most `side` pixels."""
        image = self._prompt.image
        scale = min(1.0, side / max(image.width, image.height))
        data, picture = self._context.region(None, scale=scale, media_type="image/jpeg", shown=True)
        return _uri(data, picture.media_type)

    @property
    def _context(self) -> GatewayContext:
        """For cuts of the picture: an agent that sends the view alone takes none, and imports no tools."""
        from fieldmark.tools.inside import GatewayContext

        return GatewayContext(self._gateway, self._prompt.image, self._prompt.view)

    def _fetch(self, reference: Part) -> bytes:
        if reference["blob"] == self._prompt.view.blob:
            return self._gateway.view()
        from fieldmark.trace import Picture

        picture = Picture.model_validate({key: reference[key] for key in reference if key != "type"})
        return self._context.region(
            picture.box,
            scale=picture.scale or 1.0,
            media_type=picture.media_type,
            rotate=picture.rotate or 0.0,
            contrast=picture.contrast or "none",
        )[0]


def _uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
