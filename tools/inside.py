"""The Context inside a container: everything goes through the gateway's socket."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import urlencode

from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.errors import ToolError, ToolErrorKind
from fieldmark.task import OcrEngine
from fieldmark.tools.context import Page
from fieldmark.trace import Box, Contrast, Picture

if TYPE_CHECKING:
    from fieldmark.tools.browsing.wire import Action, Reply

ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}
BROWSER_SOCKET = "browser.sock"
"""The gateway's proxy for the browser, beside its own socket."""


class GatewayContext:
    """`image`, `view` and the OCR engine are those of the Prompt. GatewayGone passes through every method.

    `numbering`: whether this episode may take notes, so that results need numbers to be cited by.
    """

    def __init__(
        self, client: GatewayClient, image: Picture, view: Picture, ocr_engine: OcrEngine = "tesseract",
        *, numbering: bool = False,
    ) -> None:  # fmt: skip
        self.image = image
        self.view = view
        self.ocr_engine = ocr_engine
        self._client = client
        self._numbering = numbering

    def region(
        self,
        box: Box | None,
        *,
        scale: float = 1.0,
        media_type: str = "image/png",
        rotate: float = 0.0,
        contrast: Contrast = "none",
        shown: bool = False,
    ) -> tuple[bytes, Picture]:
        query = {"scale": f"{scale:.17g}", "type": media_type}
        if box is not None:
            query["box"] = ",".join(f"{value:.17g}" for value in box)
        if rotate:
            query["rotate"] = f"{rotate:.17g}"
        if contrast != "none":
            query["contrast"] = contrast
        if shown:
            query["shown"] = "1"
        with _refusals():
            reply = self._client.get(f"/image/region?{urlencode(query)}")
        return reply.body, Picture.model_validate_json(reply.headers["x-picture"])

    def reverse_image(self, box: Box | None, limit: int) -> dict[str, Any]:
        with _refusals():
            return cast(
                dict[str, Any], self._client.post("/lookup/reverse-image", {"box": box, "limit": limit})
            )

    def web_search(self, query: str, language: str | None, country: str | None, limit: int) -> dict[str, Any]:
        asked = {"query": query, "language": language, "country": country, "limit": limit}
        with _refusals():
            return cast(dict[str, Any], self._client.post("/lookup/web-search", asked))

    def aircraft(self, query: str) -> dict[str, Any]:
        with _refusals():
            return cast(dict[str, Any], self._client.post("/lookup/aircraft", {"query": query}))

    def classify(self, box: Box | None, limit: int) -> dict[str, Any]:
        with _refusals():
            return cast(dict[str, Any], self._client.post("/lookup/classify", {"box": box, "limit": limit}))

    def eyes(self, question: str, pictures: list[Picture]) -> dict[str, Any]:
        body = {"question": question, "pictures": [picture.blob for picture in pictures]}
        with _refusals():
            return cast(dict[str, Any], self._client.post("/eyes", body, timeout=None))

    def found_picture(self, reference: str) -> bytes:
        with _refusals():
            return self._client.get(f"/lookup/picture?{urlencode({'ref': reference})}").body

    def skill(self, name: str, file: str) -> dict[str, Any]:
        with _refusals():
            reply = self._client.get(f"/skills/read?{urlencode({'name': name, 'file': file})}")
        return cast(dict[str, Any], reply.json())

    def recall(self, query: str, limit: int) -> dict[str, Any]:
        with _refusals():
            return cast(dict[str, Any], self._client.post("/memory/recall", {"query": query, "limit": limit}))

    def remember(self, text: str, kind: str, cites: list[int]) -> dict[str, Any]:
        note = {"text": text, "kind": kind, "cites": cites}
        with _refusals():
            return cast(dict[str, Any], self._client.post("/memory/remember", note))

    def fetch(self, url: str) -> tuple[bytes, Page]:
        with _refusals():
            reply = self._client.call("POST", "/fetch", {"url": url})
        return reply.body, Page(**json.loads(reply.headers["x-page"]))

    def keep(self, data: bytes, media_type: str) -> Picture:
        with _refusals():
            blob = self._client.call("PUT", "/blobs", data, content_type=media_type).json()["blob"]
        return described(blob, data, media_type)

    def browse(self, action: Action) -> Reply:
        from fieldmark.tools.browsing.client import browse

        return browse(action, Path(self._client.path).with_name(BROWSER_SOCKET))

    def emit(self, kind: str, **fields: Any) -> int | None:
        seq = self._client.event(kind, **fields)
        return seq if self._numbering else None


class FilingContext(GatewayContext):
    """Keeps the bytes of the pictures that tools make: `file` writes one into `folder`, for a shell."""

    def __init__(
        self,
        client: GatewayClient,
        image: Picture,
        view: Picture,
        folder: Path,
        ocr_engine: OcrEngine = "tesseract",
        *,
        numbering: bool = False,
    ) -> None:
        super().__init__(client, image, view, ocr_engine, numbering=numbering)
        self._folder = folder
        self._bytes: dict[str, bytes] = {}

    def region(self, box: Box | None, **options: Any) -> tuple[bytes, Picture]:
        data, picture = super().region(box, **options)
        self._bytes[picture.blob] = data
        return data, picture

    def keep(self, data: bytes, media_type: str) -> Picture:
        picture = super().keep(data, media_type)
        self._bytes[picture.blob] = data
        return picture

    def file(self, picture: Picture) -> Path | None:
        """The file of a picture, written now; None when its bytes did not pass here."""
        data = self.data(picture)
        if data is None:
            return None
        path = self._folder / f"{picture.blob[:16]}{ENDINGS.get(picture.media_type, '')}"
        path.write_bytes(data)
        return path

    def data(self, picture: Picture) -> bytes | None:
        """The bytes of a picture; None when they did not pass here."""
        return self._bytes.get(picture.blob)


def described(blob: str, data: bytes, media_type: str) -> Picture:
    """The Picture of bytes that are no cut of the original."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return Picture(blob=blob, media_type=media_type, width=image.width, height=image.height)


@contextmanager
def _refusals() -> Iterator[None]:
    """A refused request becomes the ToolError that the model reads."""
    try:
        yield
    except GatewayRefused as error:
        known = error.kind in get_args(ToolErrorKind)
        raise ToolError(str(error), cast(ToolErrorKind, error.kind) if known else "unavailable") from error
