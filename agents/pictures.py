"""The bytes of pictures on their way to a model: fetched once through the gateway, kept within a bound."""

from __future__ import annotations

import base64
from collections import OrderedDict
from threading import Lock
from typing import Any

from fieldmark.agents.messages import Part
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.inside import GatewayContext
from fieldmark.trace import Box, Picture

CACHE_BYTES = 48 * 1024 * 1024
"""Encoded bytes kept at most; what falls out is fetched again when it is needed."""


class Pictures:
    """Turns picture references into data URIs. Any thread may use it."""

    def __init__(self, gateway: GatewayClient, prompt: Prompt) -> None:
        self._gateway = gateway
        self._prompt = prompt
        self._context = GatewayContext(gateway, prompt.image, prompt.view)
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

    def _fetch(self, reference: Part) -> bytes:
        if reference["blob"] == self._prompt.view.blob:
            return self._gateway.get("/image").body
        picture = Picture.model_validate({key: reference[key] for key in reference if key != "type"})
        return self._context.region(
            picture.box,
            scale=picture.scale or 1.0,
            media_type=picture.media_type,
            rotate=picture.rotate or 0.0,
            contrast=picture.contrast or "none",
        )[0]


class RememberingContext(GatewayContext):
    """The tools' Context inside, for one call; the bytes that pass through it need not be fetched again for
    the model. `result_seq` is the number of the call's `tool_result` event, once it is posted.
    """

    result_seq: int | None = None

    def __init__(self, gateway: GatewayClient, prompt: Prompt, pictures: Pictures) -> None:
        numbering = "remember" in prompt.tools
        super().__init__(gateway, prompt.image, prompt.view, prompt.ocr, numbering=numbering)
        self._pictures = pictures

    def region(self, box: Box | None, **options: Any) -> tuple[bytes, Picture]:
        data, picture = super().region(box, **options)
        self._pictures.remember(picture.blob, data)
        return data, picture

    def keep(self, data: bytes, media_type: str) -> Picture:
        picture = super().keep(data, media_type)
        self._pictures.hold(picture.blob, data)
        return picture

    def emit(self, kind: str, **fields: Any) -> int | None:
        seq = self._client.event(kind, **fields)
        if kind == "tool_result":
            self.result_seq = seq
        return seq if self._numbering else None


def _uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
