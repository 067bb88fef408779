"""Fixtures: a picture as an episode would have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.tools.pictures import ContextOf, RecordingContext, png


@pytest.fixture
def context_of(tmp_path: Path) -> ContextOf:
    """`context_of(image, index=…, registry=…)`: the picture as an episode would have it."""

    def make(image: Image.Image, **backends: Any) -> RecordingContext:
        path = tmp_path / "picture.png"
        path.write_bytes(png(image))
        return RecordingContext(path, out=tmp_path / "out", **backends)

    return make


@pytest.fixture(scope="session")
def quarters() -> Image.Image:
    """4000x3000 px: red, green / blue, light grey. The view models are shown is 2048x1536 px."""
    image = Image.new("RGB", (4000, 3000), (200, 0, 0))
    image.paste((0, 200, 0), (2000, 0, 4000, 1500))
    image.paste((0, 0, 200), (0, 1500, 2000, 3000))
    image.paste((200, 200, 200), (2000, 1500, 4000, 3000))
    return image
