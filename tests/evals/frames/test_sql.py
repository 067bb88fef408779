"""`fieldmark sql`: queries over constructed runs; a query can read the tables, and nothing else."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

import fieldmark
from fieldmark.commands.sql import command
from fieldmark.errors import UsageError
from fieldmark.evals.frames import TABLES
from fieldmark.evals.frames.sql import ask
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

DOCS = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", DOCS, re.DOTALL)


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    built = build_run()
    built.task("a", top="Nature").episode("a", verdict="correct").step(("ocr", "ok"), ("ocr", "failed"))
    built.task("b", top="Culture").episode("b", verdict="incorrect").step(("web_search", "ok"))
    return built.finish()


def sql(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def refusal(run: RunDir, query: str) -> str:
    with pytest.raises(UsageError) as caught:
        ask(fieldmark.load(run.path), query)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.split("\n")[0][:40])
def test_every_query_of_the_docs_runs(run: RunDir, query: str) -> None:
    found = ask(fieldmark.load(run.path), query)
    assert found.columns
    assert all(len(row) == len(found.columns) for row in found.rows)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.split("\n")[0][:40])
def test_every_query_of_the_docs_is_taken_by_the_command(run: RunDir, query: str) -> None:
    assert sql(run.path, query).exit_code == 0


@pytest.mark.parametrize("by", ["query('SELECT * FROM epi' || 'sodes')", "query_table('epi' || 'sodes')"])
def test_a_table_whose_name_is_put_together_is_not_empty(run: RunDir, by: str) -> None:
    assert ask(fieldmark.load(run.path), f"SELECT count(*) FROM {by}").rows == [(2,)]


def test_the_docs_have_ten_queries_and_every_column() -> None:
    assert len(QUERIES) == 10
    for name, made in TABLES.items():
        section = DOCS.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        told = re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE)
        assert told == [(column, field.description) for column, field in made.row.model_fields.items()]


def test_a_table_json_and_csv(run: RunDir) -> None:
    query = "SELECT id, correct, confidence, seconds FROM episodes ORDER BY id"
    text = sql(run.path, query).stdout
    assert [line.split() for line in text.splitlines() if line.split()[:1] in (["a"], ["b"])] == [
        ["a", "true", "–", "10"],
        ["b", "false", "–", "10"],
    ]
    assert "2 rows" in text
    assert json.loads(sql(run.path, query, "--json").stdout)[0] == {
        "id": "a", "correct": True, "confidence": None, "seconds": 10.0
    }  # fmt: skip
    rows = list(csv.reader(io.StringIO(sql(run.path, query, "--csv").stdout)))
    assert rows[:2] == [["id", "correct", "confidence", "seconds"], ["a", "True", "", "10.0"]]


def test_what_json_has_no_word_for(run: RunDir) -> None:
    query = "SELECT 1/0 AS over, 'nan'::DOUBLE AS nan, DATE '2026-11-30' AS day, [1.5] AS list"
    assert json.loads(sql(run.path, query, "--json").stdout) == [
        {"over": None, "nan": None, "day": "2026-11-30", "list": ["1.5"]}
    ]


def test_a_partial_run_is_called_so(build_run: BuildRun) -> None:
    built = build_run().task("a").task("b")
    built.episode("a", verdict="correct")
    done = sql(built.finish().path, "SELECT count(*) FROM episodes", "--csv")
    assert "run is PARTIAL: 1 of 2 task × epoch have no episode" in done.stderr


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM read_text('{}')", "SELECT * FROM '{}'", "SELECT * FROM read_csv('{}')",
     "COPY episodes TO '{}'", "ATTACH '{}' AS x", "SELECT * FROM glob('{}')", "EXPORT DATABASE '{}'",
     "SET enable_external_access = true", "INSTALL httpfs", "CREATE TABLE x (i INT)", "DELETE FROM episodes",
     "SELECT * FROM read_csv('https://example.com/x.csv')", "SELECT * FROM frames"],
)  # fmt: skip
def test_a_query_reads_no_files_and_writes_nothing(run: RunDir, tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("SECRET\n1\n")
    assert refusal(run, query.format(secret)).startswith("SQL")
    assert secret.read_text() == "SECRET\n1\n"


def test_gold_is_in_no_table(run: RunDir) -> None:
    frames = fieldmark.load(run.path)
    assert not any("SECRET" in frames.table(name).to_csv() for name in TABLES)


def test_mistakes_get_one_line(run: RunDir) -> None:
    known = "the tables are tasks, episodes, calls, verdicts, facts, failures, chain_breaks"
    assert refusal(run, "SELECT * FROM nope") == f"SQL: there is no table nope: {known}"
    assert "syntax error" in refusal(run, "SELEC 1\nFROM episodes")
    assert '"foo" not found' in refusal(run, "SELECT foo FROM episodes")
    assert "2 statements" in refusal(run, "SELECT 1; SELECT 2")
    for arguments in (
        [run.path],
        [run.path, run.path],
        [run.path, ""],
        [run.path, "SELECT 1", "--csv", "--json"],
        ["nowhere", "SELECT 1"],
    ):
        with pytest.raises(UsageError):
            sql(*arguments)


def test_ctrl_c_ends_a_query_that_takes_long(run: RunDir) -> None:
    query = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE (a.range * b.range) % 7 = 3"
    argv = [str(Path(sys.executable).with_name("fieldmark")), "sql", str(run.path), query]
    # a shell that runs the tests in the background has them, and so the child, ignore Ctrl-C
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asked = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, heard)
    with pytest.raises(subprocess.TimeoutExpired):
        asked.wait(4)
    asked.send_signal(signal.SIGINT)
    assert asked.communicate(timeout=20)[1].strip() == "fieldmark: stopped"
    assert asked.returncode == 1
