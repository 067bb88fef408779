"""fieldmark: tool-using recognition agents in sandboxes, recorded, judged and explained.

import fieldmark
run = fieldmark.load("runs/a")
run.episodes.groupby("top").correct.mean()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from fieldmark.evals.frames import Frames

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(*runs: str | PathLike[str]) -> Frames:
    """Runs as data frames: `.tasks .episodes .calls .verdicts .facts .failures`, see docs/sql.md.

    The folder of a study stands for all its runs. UsageError: none is named, one twice, or one is neither.
    """
    from fieldmark.evals.frames import load as load_frames

    return load_frames(*runs)
