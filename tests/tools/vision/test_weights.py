"""Reading torch's legacy files without torch, and without running what they may call."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from fieldmark.tools.vision.extra import weights_file
from fieldmark.tools.vision.weights import read_weights


@pytest.fixture(scope="module")
def packaged() -> Path:
    path = weights_file()
    assert path is not None
    return path


def test_the_packaged_tensors_have_their_shapes(packaged: Path) -> None:
    weights = read_weights(packaged)
    shapes = {name: weights[name].shape for name in ("_conv_stem.weight", "_conv_head.weight", "_fc.weight")}
    assert shapes == {
        "_conv_stem.weight": (32, 3, 3, 3),
        "_conv_head.weight": (1280, 320, 1, 1),
        "_fc.weight": (1000, 1280),
    }
    assert len(weights) == 296
    assert all(weights[name].min() >= 0 for name in weights if name.endswith("running_var"))


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_file_that_calls_a_function_is_refused_and_calls_nothing(tmp_path: Path) -> None:
    file = tmp_path / "evil.pth"
    file.write_bytes(pickle.dumps(Evil(tmp_path / "made"), protocol=2))
    with pytest.raises(pickle.UnpicklingError, match="mkdir has no place in a file of weights"):
        read_weights(file)
    assert not (tmp_path / "made").exists()


def test_another_or_a_cut_file_is_refused(tmp_path: Path, packaged: Path) -> None:
    other = tmp_path / "other.pth"
    other.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="not in torch's legacy format"):
        read_weights(other)
    cut = tmp_path / "cut.pth"
    cut.write_bytes(packaged.read_bytes()[:1_000_000])
    with pytest.raises(ValueError, match="buffer"):
        read_weights(cut)
