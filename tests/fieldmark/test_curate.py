"""`fieldmark curate` as a user calls it; the whole sequence is in `curating/test_whole_sequence.py`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.conftest import Fieldmark
from tests.evals.curation.pictures import save


def test_status_and_the_history_of_a_candidate(fieldmark: Fieldmark, tmp_path: Path) -> None:
    for number in range(2):
        save(tmp_path / "in" / "heron" / f"{number}.png", number)
    fieldmark("curate", "new", "set")
    told = fieldmark("curate", "import", "set", "in", "--licence", "CC0-1.0")
    assert "import: 2 kept, 0 dropped, 0 open" in told.stdout
    rows = json.loads(fieldmark("curate", "status", "set", "--json").stdout)
    assert rows[0] == {"step": "import", "reached": 2, "keep": 2, "drop": 0, "open": 0, "classes": 1}
    name = sqlite3.connect(tmp_path / "set/curate.sqlite").execute("SELECT id FROM candidates").fetchone()[0]
    assert "import        keep  by fieldmark: usable" in fieldmark("curate", "show", "set", name).stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("status", "nowhere"), "fieldmark curate new"),
        (("screen", "first", "set"), "no candidate is left after import"),
        (("import", "set", "nothing-there"), "is not there"),
        (("questions", "set"), "taxonomy.toml is missing"),
    ],
)
def test_bad_usage_is_one_line(fieldmark: Fieldmark, command: tuple[str, ...], told: str) -> None:
    fieldmark("curate", "new", "set")
    done = fieldmark("curate", *command)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
