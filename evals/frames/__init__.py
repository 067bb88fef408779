"""A run folder as data frames: `load`. `sql.py` asks them."""

from __future__ import annotations

from fieldmark.evals.frames.loading import TABLES, Frames, load

__all__ = ["TABLES", "Frames", "load"]
