"""`fieldmark data check`: what is in the data, and what is wrong with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.conftest import Fieldmark
from tests.evals.benchmarks import fika_data


def test_sound_data_are_counted_and_nothing_of_gold_is_printed(fieldmark: Fieldmark, tmp_path: Path) -> None:
    path = fika_data.archive(tmp_path, tmp_path / ".made")
    done = fieldmark("data", "check", "--data", path, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert (done.returncode, done.stderr) == (0, "")
    for line in ("4 tasks", ".sha256 file: agrees", "1  real-life · Culture · zh", "320 to 323 px", "sound"):
        assert line in done.stdout
    assert (
        "4 top and 4 mid categories, 4 targets, 4 aliases; 5 evidence links on 5 domains, 0 tasks"
        in done.stdout
    )
    assert not [item for item in fika_data.ITEMS if item["answer"] in done.stdout]


def test_missing_broken_and_double_pictures_are_named(fieldmark: Fieldmark, tmp_path: Path) -> None:
    rows = [fika_data.plain(number, item) for number, item in enumerate(fika_data.ITEMS)]
    rows[3]["question"] = rows[0]["question"]
    path = fika_data.jsonl(tmp_path, rows)
    pictures = tmp_path / "images"
    (pictures / "1.png").unlink()
    (pictures / "2.png").write_bytes(b"no picture")
    shutil.copy(pictures / "0.png", pictures / "3.png")
    done = fieldmark("data", "check", "--data", path, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["sound"]) == (1, False)
    assert set(told["unusable"]) == {"p-002", "r-001"}
    assert told["same_picture"] == told["doubles"] == [["p-001", "r-002"]]
    assert {"split": "public", "top": "Nature", "language": "en", "tasks": 1} in told["counts"]
    plain = fieldmark("data", "check", "--data", path)
    assert "WRONG  p-002: 1.png" in plain.stdout
    assert "3 wrong" in plain.stdout


def test_a_mapping_is_taken_and_a_bad_one_refused(fieldmark: Fieldmark, tmp_path: Path) -> None:
    path = fika_data.jsonl(tmp_path, [fika_data.odd(n, item) for n, item in enumerate(fika_data.ITEMS)])
    options = ["--map", "id=nr", "--map", "image=pic", "--map", "question=ask"]
    done = fieldmark("data", "check", "--data", path, *options)
    assert (done.returncode, "could be mapped to answer" in done.stderr) == (2, True)
    assert fieldmark("data", "check", "--data", path, *options, "--map", "answer=truth").returncode == 0
    assert fieldmark("data", "check", "--data", path, "--map", "id").returncode == 2
