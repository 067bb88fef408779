"""EfficientNet-Lite0 at work: an RGB picture → scores of 1,000 ImageNet classes, or a vector to compare by.

The model file is built from the packaged weights, once on a machine, and kept in $XDG_CACHE_HOME/fieldmark.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fieldmark.errors import ToolError
from fieldmark.tools.vision.extra import INSTALL, available, weights_file
from fieldmark.tools.vision.weights import read_weights
from fieldmark.user_cache import user_cache

_VERSION = 1
_SIDE = 224
_MIDDLE = 224 / 256
"""Side that the network takes, in px; part of the shorter side that its usual evaluation shows it."""

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def class_scores(rgb: Bytes) -> Floats:
    """(1000,) scores from 0 to 1 that add up to 1, of a picture (H, W, 3).

    The mean of two looks: all of it, squeezed into a square, and its middle square. ToolError
    `unavailable`: the extra `vision` is not installed.
    """
    logits, _ = _run(np.stack([_whole(rgb), _middle(rgb)]))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray((powers / powers.sum(axis=1, keepdims=True)).mean(axis=0), np.float32)


def embed(rgb: Bytes) -> Floats:
    """(1280,) of unit length: what the network makes of a whole picture (H, W, 3) before it names classes.

    Like pictures have a high dot product. ToolError `unavailable` as `class_scores`.
    """
    _, features = _run(_whole(rgb)[None])
    return np.asarray(features[0] / max(float(np.linalg.norm(features[0])), 1e-6), np.float32)


def _run(pixels: Floats) -> tuple[Floats, Floats]:
    logits, features = _session().run(["logits", "features"], {"pixels": pixels})
    return logits, features


def _whole(rgb: Bytes) -> Floats:
    return _pixels(Image.fromarray(rgb).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC))


def _middle(rgb: Bytes) -> Floats:
    image = Image.fromarray(rgb)
    half, x, y = min(image.size) * _MIDDLE / 2, image.width / 2, image.height / 2
    box = (x - half, y - half, x + half, y + half)
    return _pixels(image.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC, box=box))


def _pixels(image: Image.Image) -> Floats:
    """(3, 224, 224), scaled as in the network's training."""
    return np.asarray((np.asarray(image, np.float32) - 127) / 128, np.float32).transpose(2, 0, 1)


def load() -> None:
    """Read the network now rather than at the first picture. ToolError `unavailable`: not installed."""
    _session()


@cache
def _session() -> Any:
    if not available():
        raise ToolError(f"the classifier is not installed: {INSTALL}", "unavailable")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # other episodes run beside
    options.log_severity_level = 3

    def opened(model: bytes) -> Any:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    path = user_cache("vision") / f"efficientnet-lite0-v{_VERSION}.onnx"
    try:
        return opened(path.read_bytes())
    except (
        Exception
    ):  # absent, cut short or damaged: the runtime raises many kinds; all are cured by building
        model = _built()
    _keep(path, model)
    return opened(model)


def _built() -> bytes:
    from fieldmark.tools.vision.graph import build

    path = weights_file()
    assert path is not None
    return build(read_weights(path))


def _keep(path: Path, model: bytes) -> None:
    """Write beside and rename, so that no process reads half a file. A full disk is no fault."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
            file.write(model)
        Path(file.name).replace(path)
    except OSError:
        return
