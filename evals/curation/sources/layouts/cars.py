"""Stanford Cars: `cars_train/*.jpg`, `cars_test/*.jpg`; names in `devkit/cars_meta.mat`.

The training labels are in `devkit/cars_train_annos.mat`.
The test labels are in a file of their own, `cars_test_annos_withlabels.mat`; without it the test part is left
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found
from fieldmark.evals.curation.sources.layouts.files import listed, matlab, need

LICENCE = ""


def read(folder: Path) -> Iterator[Found]:
    """Class ids count from 1."""
    names = listed(matlab(need(folder, "devkit/cars_meta.mat")[0])["class_names"])
    for part, pattern in (
        ("train", "devkit/cars_train_annos.mat"),
        ("test", "**/*test_annos_withlabels.mat"),
    ):
        for file in sorted(folder.glob(pattern)):
            for each in listed(matlab(file)["annotations"]):
                name, picture = names[int(each["class"]) - 1], folder / f"cars_{part}" / each["fname"]
                box = [int(each[f"bbox_{side}"]) for side in ("x1", "y1", "x2", "y2")]
                origin = f"cars_{part}/{each['fname']}"
                yield Found(origin, picture, name, name, LICENCE, {"split": part, "box": box})
