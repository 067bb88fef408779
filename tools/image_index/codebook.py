"""Make `codebook.npz` from pictures: once, by hand. Any change of it makes every index be built anew.

python -m fieldmark.tools.image_index.codebook evals/benchmarks/fieldmark_mini/{images,index}/*.{jpg,png}
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np

from fieldmark.tools.image_index.features import describe
from fieldmark.tools.image_index.words import CODEBOOK

_CENTRES = 256
_SIGNS = 64


def main() -> None:
    descriptors = np.concatenate([describe(Path(name).read_bytes()).descriptors for name in sys.argv[1:]])
    cv2.setRNGSeed(7)
    stop = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 40, 1e-4)
    centres = []
    for half in (descriptors[:, :64], descriptors[:, 64:]):
        half = np.ascontiguousarray(half)
        empty = np.zeros((0, 1), np.int32)
        centres.append(cv2.kmeans(half, _CENTRES, empty, stop, 2, cv2.KMEANS_PP_CENTERS)[2])
    square, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((128, 128)))
    np.savez_compressed(
        CODEBOOK,
        centres=np.stack(centres).astype(np.float16),
        directions=square[:, :_SIGNS].astype(np.float16),
    )
    print(f"{CODEBOOK}: {len(descriptors):,} descriptors of {len(sys.argv) - 1} pictures")


if __name__ == "__main__":
    main()
