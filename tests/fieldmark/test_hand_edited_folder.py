"""A run folder whose run.json or tasks.jsonl a hand has edited: what can be told of it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fieldmark import jsonl
from fieldmark.cli import cli
from fieldmark.errors import FieldmarkError
from fieldmark.rundir import RunDir
from tests.evals.conftest import RunBuilder

ODD: list[Any] = [3, "x", [3], None]
TABLES = ("judges", "config", "model", "benchmark", "classifiers", "web", "memory", "limits")


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    built = RunBuilder(tmp_path / "run", judge="exact").task("a")
    built.episode("a", verdict="correct").step(("ocr", "ok"))
    return built.finish()


def call(*words: str | Path) -> int:
    """The exit code of a command; 2 where it names what is wrong. Any other error is raised."""
    result = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
    if isinstance(result.exception, FieldmarkError):
        return 2
    if result.exception:
        raise result.exception
    return int(result.return_value or 0)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_none_stops_no_command(run: RunDir, tmp_path: Path, name: str) -> None:
    described = run.config()
    for place, odd in enumerate(ODD):
        out = tmp_path / f"{place}.eval"
        run.write_config({**described, name: odd})
        assert call("judge", run.path, "--judge", "exact") == 0
        run.write_config({**described, name: odd})
        assert call("classify", run.path, "--no-llm") == 0
        run.write_config({**described, name: odd})
        assert call("export", run.path, "--inspect", out) == 0
        assert out.stat().st_size > 0


@pytest.mark.parametrize("odd", ["1e999", "NaN", '"wide"', "[1]", "true", "-3", "9" * 400])
def test_a_size_that_is_none_is_left_out_of_the_tables(run: RunDir, tmp_path: Path, odd: str) -> None:
    row = json.dumps(run.tasks()[0])[:-1] + f', "image": {{"width": {odd}, "height": 40}}}}\n'
    run.tasks_file.write_text(row)
    assert call("export", run.path, "--csv", tmp_path / "tables") == 0
    table = (tmp_path / "tables/tasks.csv").read_text(encoding="utf-8-sig").splitlines()
    told = dict(zip(table[0].split(","), table[1].split(","), strict=True))
    assert (told["width"], told["height"]) == ("", "40")


@pytest.mark.parametrize("number", ["1e999", "-1E+400", "Infinity", "NaN", "9" * 310 + ".0"])
def test_a_number_beyond_a_float_is_read_as_none(tmp_path: Path, number: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a": [{number}], "b": "1e999"}}\n{{"a": 1e9}}\n')
    assert jsonl.read(path).rows == [{"a": [None], "b": "1e999"}, {"a": 1e9}]
