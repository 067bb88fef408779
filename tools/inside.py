"""The Context inside a container: everything goes through the gateway's socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast, get_args
from urllib.parse import urlencode

from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.errors import ToolError, ToolErrorKind
from fieldmark.task import OcrEngine
from fieldmark.tools.context import Page
from fieldmark.trace import Box, Picture

ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}


class GatewayContext:
    """`image`, `view` and the OCR engine are those of the Prompt. GatewayGone passes through every method."""

    def __init__(
        self, client: GatewayClient, image: Picture, view: Picture, ocr_engine: OcrEngine = "tesseract"
    ) -> None:
        self.image = image
        self.view = view
        self.ocr_engine = ocr_engine
        self._client = client

    def region(
        self, box: Box | None, *, scale: float = 1.0, media_type: str = "image/png"
    ) -> tuple[bytes, Picture]:
        query = {"scale": f"{scale:.6g}", "type": media_type}
        if box is not None:
            query["box"] = ",".join(f"{value:.2f}" for value in box)
        with _refusals():
            reply = self._client.get(f"/image/region?{urlencode(query)}")
        return reply.body, Picture.model_validate_json(reply.headers["X-Picture"])

    def reverse_image(self, box: Box | None, limit: int) -> dict[str, Any]:
        with _refusals():
            return cast(
                dict[str, Any], self._client.post("/lookup/reverse-image", {"box": box, "limit": limit})
            )

    def aircraft(self, query: str) -> dict[str, Any]:
        with _refusals():
            return cast(dict[str, Any], self._client.post("/lookup/aircraft", {"query": query}))

    def skill(self, name: str, file: str) -> dict[str, Any]:
        with _refusals():
            reply = self._client.get(f"/skills/read?{urlencode({'name': name, 'file': file})}")
        return cast(dict[str, Any], reply.json())

    def fetch(self, url: str) -> tuple[bytes, Page]:
        with _refusals():
            reply = self._client.call("POST", "/fetch", {"url": url})
        return reply.body, Page(**json.loads(reply.headers["X-Page"]))

    def emit(self, kind: str, **fields: Any) -> None:
        self._client.event(kind, **fields)


class FilingContext(GatewayContext):
    """For a shell, which sees files only: `file` writes pictures that a tool made into `folder`."""

    def __init__(
        self,
        client: GatewayClient,
        image: Picture,
        view: Picture,
        folder: Path,
        ocr_engine: OcrEngine = "tesseract",
    ) -> None:
        super().__init__(client, image, view, ocr_engine)
        self._folder = folder
        self._bytes: dict[str, bytes] = {}

    def region(
        self, box: Box | None, *, scale: float = 1.0, media_type: str = "image/png"
    ) -> tuple[bytes, Picture]:
        data, picture = super().region(box, scale=scale, media_type=media_type)
        self._bytes[picture.blob] = data
        return data, picture

    def file(self, picture: Picture) -> Path | None:
        """The file of a picture, written now; None when its bytes did not pass here."""
        if picture.blob not in self._bytes:
            return None
        path = self._folder / f"{picture.blob[:16]}{ENDINGS.get(picture.media_type, '')}"
        path.write_bytes(self._bytes[picture.blob])
        return path


@contextmanager
def _refusals() -> Iterator[None]:
    """A refused request becomes the ToolError that the model reads."""
    try:
        yield
    except GatewayRefused as error:
        known = error.kind in get_args(ToolErrorKind)
        raise ToolError(str(error), cast(ToolErrorKind, error.kind) if known else "unavailable") from error
