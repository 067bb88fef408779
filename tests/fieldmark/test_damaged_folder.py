"""A run folder that a kill or a hand has damaged: no row is lost for another, no traceback reaches a user."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.evals.metrics.summary import summarise
from fieldmark.records import Verdict
from fieldmark.trace import parse_event
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder


def test_a_row_after_a_half_written_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    jsonl.append(path, {"n": 1})
    path.write_bytes(path.read_bytes() + b'{"n": 2, "te')
    jsonl.append(path, {"n": 3})
    jsonl.append(path, {"n": 4})
    lines = jsonl.read(path)
    assert (lines.rows, lines.bad, lines.torn) == ([{"n": 1}, {"n": 3}, {"n": 4}], [2], False)


def test_a_row_without_its_line_end_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}')
    jsonl.append(path, {"n": 2})
    assert jsonl.read(path).rows == [{"n": 1}, {"n": 2}]


def test_a_verdict_after_a_half_written_one_counts(tmp_path: Path) -> None:
    built = RunBuilder(tmp_path / "run").task("a")
    built.episode("a").answer("Saab 340")
    run = built.finish()
    run.verdicts_file.write_bytes(b'{"id":"a","epo')
    run.add_verdict(Verdict(id="a", label="correct", score=1, judge="exact"))
    assert summarise(run).accuracy.headline.strict.fraction == 1


@pytest.mark.parametrize("row", [{}, {"id": 5}, {"id": None, "answer": 3}, {"answer": "x", "odd": 1}])
def test_a_row_that_is_no_gold_is_told_and_left_out(tmp_path: Path, row: dict[str, object]) -> None:
    built = RunBuilder(tmp_path / "run").task("a")
    built.episode("a", verdict="correct")
    run = built.finish()
    jsonl.append(run.gold_file, row)
    assert [*run.gold()] == ["a"]
    assert "gold.jsonl: 1 row is not what this file holds: skipped" in summarise(run).caveats


@pytest.mark.parametrize("damage", ["cut off", "another byte", "other text", "no text", "gone"])
def test_a_damaged_blob_is_as_good_as_gone(tmp_path: Path, damage: str) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.put_text("words " * 500)
    path = blobs.path(digest)
    packed = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        found = {
            "other text": gzip.compress(b"others"),
            "cut off": packed[:-9],
            "another byte": b"x" + packed[1:],
            "no text": gzip.compress(b"\xff"),
        }
        path.write_bytes(found[damage])
    with pytest.raises(KeyError):
        blobs.get_text(digest)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/" + "0" * 62, "A" * 64, "\0"])
def test_a_blob_that_a_trace_names_is_never_a_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("not of this run")
    (tmp_path / "blobs").mkdir()
    with pytest.raises(KeyError):
        BlobStore(tmp_path / "blobs").path(name)


@pytest.mark.parametrize("kind", [[], {"a": 1}, None, 5])
def test_an_event_of_an_odd_kind_is_refused_as_any_bad_row(kind: object) -> None:
    with pytest.raises(ValidationError):
        parse_event({"seq": 1, "t": 0.0, "by": "sandbox", "kind": kind})


def test_a_file_that_is_a_folder_is_told_in_one_line(fieldmark: Fieldmark, tmp_path: Path) -> None:
    built = RunBuilder(tmp_path / "run").task("a")
    built.episode("a", verdict="correct")
    built.finish().facts_file.mkdir()
    told = fieldmark("show", tmp_path / "run", "a")
    assert (told.returncode, told.stderr.count("\n"), "own" in told.stderr) == (2, 1, False)
    assert "facts.jsonl: Is a directory" in told.stderr
