"""`fieldmark curate` as a user calls it; the whole sequence is in `curating/test_whole_sequence.py`."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

from fieldmark.curating.audit.desk import Desk
from fieldmark.evals.curation.audit.marks import Mark
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import STEPS, Candidate
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


WRONG_TOML = {
    "[release": "is not valid TOML",
    "[import]\nnear_bits = 900": "import.near_bits: input should be less than or equal to 127",
    "[audits]": "unknown key 'audits': here are the keys import, screen, leakage, audit",
    "[audit]\nannotator = 3": "unknown key 'audit.annotator': here are the keys annotators",
    "[screen.first]\nmodel = { nam = 'x' }": "screen.first.model.nam",
}


@pytest.mark.parametrize("text", WRONG_TOML)
def test_a_wrong_curate_toml_is_named_in_one_line(fieldmark: Fieldmark, tmp_path: Path, text: str) -> None:
    fieldmark("curate", "new", "set")
    (tmp_path / "set" / "curate.toml").write_text(text)
    done = fieldmark("curate", "status", "set")
    assert done.returncode == 2
    assert WRONG_TOML[text] in done.stderr
    assert len(done.stderr.splitlines()) == 1


WRONG_ROWS = {
    "foo,bar\n1,2\n": "no column image and label (it has foo, bar)",
    "image,label\nx.png,\n": "line 2: no label",
    "": "holds no picture and no row",
}


@pytest.mark.parametrize("text", WRONG_ROWS)
def test_wrong_rows_are_named_in_one_line(fieldmark: Fieldmark, tmp_path: Path, text: str) -> None:
    fieldmark("curate", "new", "set")
    (tmp_path / "rows.csv").write_text(text)
    done = fieldmark("curate", "import", "set", "rows.csv")
    assert done.returncode == 2
    assert WRONG_ROWS[text] in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_ten_thousand_candidates_are_walked_through_at_once(tmp_path: Path) -> None:
    """What the audit's page asks at every mark looks through no table."""
    with Project.create(tmp_path / "set") as project:
        with project.writing():
            for number in range(10_000):
                name = f"{number:016x}"
                project.add(Candidate(name, name, "pictures/none.png", "heron", "heron", "s", "CC0-1.0"))
                for step in STEPS[: STEPS.index("audit")]:
                    project.decide(step, name, "keep", "so far")
        desk = Desk(project, "ann")
        begun = time.monotonic()
        for _ in range(20):
            shown = desk.next()
            assert shown
            desk.mark(shown, Mark(choice="drop", label="heron"))
        assert desk.done == 20
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("status", "nowhere"), "fieldmark curate new"),
        (("screen", "first", "set"), "no candidate is left after import"),
        (("import", "set", "nothing-there"), "is not there"),
        (("leakage", "set"), "no candidate is left after screen.hard"),
        (("audit", "set"), "no candidate is left after leakage"),
        (("evidence", "set"), "no candidate is left after audit"),
        (("taxonomy", "set"), "no candidate is left after evidence"),
        (("questions", "set"), "taxonomy.toml is missing"),
    ],
)
def test_bad_usage_is_one_line(fieldmark: Fieldmark, command: tuple[str, ...], told: str) -> None:
    fieldmark("curate", "new", "set")
    done = fieldmark("curate", *command)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
