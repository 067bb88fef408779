"""The Context on the host's own command line: one picture file and direct backends."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.errors import ToolError
from fieldmark.task import OcrEngine
from fieldmark.tools.context import Page
from fieldmark.tools.inside import ENDINGS, described
from fieldmark.tools.pictures.images import Meta, cut_decoded, open_upright, stage
from fieldmark.trace import Box, Contrast, Picture

if TYPE_CHECKING:
    from PIL import Image

    from fieldmark.tools.aircraft.db import AircraftDb
    from fieldmark.tools.browsing.wire import Action, Reply
    from fieldmark.tools.image_index.local_index import LocalIndex


_NO_MEMORY = "notes are those of a run with --memory; on the command line there are none"
Eyes = Callable[[str, list[tuple[bytes, str]]], dict[str, Any]]
"""A question and pictures (bytes, media type) → `{"text", "model"}`."""


class HostContext:
    """Stages `image_path` as an episode would. Pictures are written to `out` (default: a new temporary
    folder) as `<sha256>.<ext>`; events go nowhere, for no episode is recorded. DataFault: unusable picture.
    """

    def __init__(
        self,
        image_path: Path,
        index: LocalIndex | None = None,
        registry: AircraftDb | None = None,
        out: Path | None = None,
        fetch: Callable[[str], tuple[bytes, Page]] | None = None,
        search: Callable[[str, str | None, str | None, int], dict[str, Any]] | None = None,
        reverse: Callable[[bytes, Box | None, int], dict[str, Any]] | None = None,
        ocr_engine: OcrEngine = "tesseract",
        eyes: Eyes | None = None,
    ) -> None:
        staged = stage(image_path, any_shape=True)
        self.image = _described(staged.original, staged.original_meta)
        self.view = _described(staged.view, staged.view_meta)
        self.ocr_engine = ocr_engine
        self.files: dict[str, Path] = {}
        self._original = staged.original
        self._index = index
        self._registry = registry
        self._out = out
        self._fetch = fetch
        self._search = search
        self._reverse = reverse
        self._eyes = eyes
        self._view = staged.view

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
        made = cut_decoded(
            self._pixels, box, scale=scale, media_type=media_type, rotate=rotate, contrast=contrast
        )
        return made.data, made.picture(self._written(made.data, media_type), of=self.image.blob)

    def file(self, picture: Picture) -> Path | None:
        """The file of a picture that a tool made."""
        return self.files.get(picture.blob)

    def data(self, picture: Picture) -> bytes | None:
        """The bytes of a picture that a tool made."""
        path = self.file(picture)
        return path.read_bytes() if path else None

    def reverse_image(self, box: Box | None, limit: int) -> dict[str, Any]:
        if self._reverse is not None:
            return self._reverse(self._original, box, limit)
        if self._index is None:
            raise ToolError(
                "no image index is set up; on the command line name one: --index DIR", "unavailable"
            )
        query = cut_decoded(self._pixels, box, scale=1.0, media_type="image/png").data
        hits = [hit.public() for hit in self._index.query(query, limit)]
        return {"found": bool(hits), "hits": hits}

    def web_search(self, query: str, language: str | None, country: str | None, limit: int) -> dict[str, Any]:
        if self._search is None:
            raise ToolError(
                "no web search is set up; on the command line name one: --search serpapi, or --site DIR",
                "unavailable",
            )
        return self._search(query, language, country, limit)

    def aircraft(self, query: str) -> dict[str, Any]:
        if self._registry is None:
            raise ToolError(
                "no aircraft registry is set up; on the command line name one: --registry FILE", "unavailable"
            )
        return self._registry.lookup(query)

    def classify(self, box: Box | None, limit: int) -> dict[str, Any]:
        from fieldmark.tools.vision.classes import classify

        if box is None:
            return classify(self._original, limit)
        return classify(cut_decoded(self._pixels, box, scale=1.0, media_type="image/png").data, limit)

    def eyes(self, question: str, pictures: list[Picture]) -> dict[str, Any]:
        if self._eyes is None:
            message = "no vision model is set up; on the command line name one: --eyes NAME --eyes-url URL"
            raise ToolError(message, "unavailable")
        return self._eyes(question, [(self._bytes(picture), picture.media_type) for picture in pictures])

    def found_picture(self, reference: str) -> bytes:
        if self._index is None:
            raise ToolError(
                "no image index is set up; on the command line name one: --index DIR", "unavailable"
            )
        return self._index.picture(reference)

    def skill(self, name: str, file: str) -> dict[str, Any]:
        from fieldmark.skills.loader import bundled
        from fieldmark.skills.skill import read_from

        return dict(read_from(bundled(), name, file))

    def recall(self, query: str, limit: int) -> dict[str, Any]:
        raise ToolError(_NO_MEMORY, "unavailable")

    def remember(self, text: str, kind: str, cites: list[int]) -> dict[str, Any]:
        raise ToolError(_NO_MEMORY, "unavailable")

    def fetch(self, url: str) -> tuple[bytes, Page]:
        if self._fetch is None:
            raise ToolError(
                "no web is set up; on the command line name one: --web live, or --site DIR", "unavailable"
            )
        return self._fetch(url)

    def keep(self, data: bytes, media_type: str) -> Picture:
        return described(self._written(data, media_type), data, media_type)

    def browse(self, action: Action) -> Reply:
        raise ToolError(
            "the browser runs only in the sandbox of an episode; on the command line use open_page",
            "unavailable",
        )

    def emit(self, kind: str, **fields: Any) -> int | None:
        """Nothing records a call on the host's own command line."""

    def _bytes(self, picture: Picture) -> bytes:
        return self._view if picture.blob == self.view.blob else self.files[picture.blob].read_bytes()

    def _written(self, data: bytes, media_type: str) -> str:
        blob = hashlib.sha256(data).hexdigest()
        self.files[blob] = self._folder / f"{blob}{ENDINGS[media_type]}"
        self.files[blob].write_bytes(data)
        return blob

    @cached_property
    def _pixels(self) -> Image.Image:
        return open_upright(self._original)

    @cached_property
    def _folder(self) -> Path:
        folder = self._out or Path(tempfile.mkdtemp(prefix="fieldmark-tool-"))
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _described(data: bytes, meta: Meta) -> Picture:
    blob = hashlib.sha256(data).hexdigest()
    return Picture(blob=blob, media_type=meta.media_type, width=meta.width, height=meta.height)
