"""Minerals, as mineralimage5K-98 on Hugging Face: Parquet files of pictures and classes, or image folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources import hugging_face
from fieldmark.evals.curation.sources.found import Found

LICENCE = ""


def read(folder: Path) -> Iterator[Found]:
    """As any dataset of that hub."""
    return hugging_face.read(folder)
