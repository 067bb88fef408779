"""The text tower of SigLIP, by `transformers`: the extra `[siglip]`, and weights that the user has."""

from __future__ import annotations

import hashlib
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError

MODEL = "google/siglip-base-patch16-256"
MAX_LENGTH = 64
"""Tokens of a text; shorter ones are padded to it, as the tower was trained."""


class TextTower:
    """Embeds texts, each once. `name` is a folder or a name of the hub; it is loaded when used."""

    def __init__(self, name: str = MODEL) -> None:
        self.name = name
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()

    def similarity(self, one: str, other: str) -> float:
        """The cosine of two texts, -1 to 1. UsageError when the tower cannot be loaded."""
        with self._lock:
            return float(self._embedded(one) @ self._embedded(other))

    def check(self) -> None:
        """UsageError, with the remedy, when the tower cannot be loaded."""
        with self._lock:
            _ = self._loaded

    def described(self) -> dict[str, Any]:
        """For run.json: the name, of a folder its last part and the SHA-256 of its weights."""
        folder = Path(self.name)
        if not folder.is_dir():
            return {"model": self.name, "max_length": MAX_LENGTH}
        digest = hashlib.sha256()
        for path in sorted(folder.glob("*.safetensors")):
            digest.update(path.read_bytes())
        return {"model": folder.resolve().name, "sha256": digest.hexdigest(), "max_length": MAX_LENGTH}

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            from transformers import AutoTokenizer, SiglipTextModel

            tokenizer = AutoTokenizer.from_pretrained(self.name)
            return tokenizer, SiglipTextModel.from_pretrained(self.name).eval()
        except ImportError as error:
            raise UsageError(
                f"the variant semantic needs torch and transformers ({error}): "
                "pip install 'fieldmark[siglip]'"
            ) from None
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UsageError(
                f"--siglip {self.name} cannot be loaded ({why[:200]}): name a folder that holds it"
            ) from None

    def _embedded(self, text: str) -> Any:
        """(width,) of length 1."""
        if text not in self._known:
            import torch

            tokenizer, tower = self._loaded
            asked = tokenizer(
                [text], padding="max_length", truncation=True, max_length=MAX_LENGTH, return_tensors="pt"
            )
            with torch.inference_mode():
                found = tower(input_ids=asked["input_ids"]).pooler_output[0]
            self._known[text] = found / found.norm()
        return self._known[text]
