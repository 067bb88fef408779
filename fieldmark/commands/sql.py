"""`fieldmark sql`: ask the tables of runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from fieldmark.evals.frames.loading import Frames
    from fieldmark.evals.frames.sql import Result


@click.command("sql")
@click.argument("arguments", metavar="RUN|STUDY... QUERY", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as a JSON list of objects.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV, null as an empty cell.")
def command(arguments: tuple[str, ...], as_json: bool, as_csv: bool) -> None:
    """Ask runs by SQL: the tables are tasks, episodes, calls, verdicts, facts and failures.

    A study stands for all its runs. The SQL is DuckDB's, and can only read these tables. docs/sql.md has
    their columns and useful queries.

    \b
    fieldmark sql runs/a "SELECT top, count(*) AS n, avg(correct::INT) FROM episodes WHERE done GROUP BY top"
    fieldmark sql runs/a runs/b "SELECT run, name, count(*) FROM calls WHERE kind = 'act' GROUP BY ALL"
    fieldmark sql runs/my-study "SELECT run, avg(correct::INT) FROM episodes WHERE done GROUP BY run"
    fieldmark sql runs/a "DESCRIBE episodes"
    """
    from fieldmark.evals.frames import load
    from fieldmark.evals.frames.sql import ask

    *runs, query = arguments
    if not runs:
        raise UsageError('name a run folder and then a query: fieldmark sql RUN "SELECT …"')
    if not query.strip() or _is_folder(query):
        raise UsageError('the query is missing: write "SELECT …" last, after the run folders')
    if as_json and as_csv:
        raise UsageError("--json and --csv: give one of them")
    frames = load(*runs)
    _warn(frames)
    found = ask(frames, query)
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        click.echo(json.dumps(_plain(rows), ensure_ascii=True, indent=2, allow_nan=False))
    elif as_csv:
        click.echo(_csv(found), nl=False)
    else:
        _print(found)


def _is_folder(query: str) -> bool:
    """A long query is no name of a file at all."""
    try:
        return Path(query).is_dir()
    except (OSError, ValueError):
        return False


def _warn(frames: Frames) -> None:
    for source in frames.sources:
        missing, of = source.unfinished
        if missing:
            click.echo(f"{source.name} is PARTIAL: {missing} of {of} task × epoch have no episode", err=True)


def _plain(value: Any) -> Any:
    """What JSON has a word for; NaN and infinities are null, dates and decimals text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _csv(found: Result) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([found.columns, *found.rows])
    return text.getvalue()


def _print(found: Result) -> None:
    from fieldmark.evals.report.table import Table
    from fieldmark.evals.report.terminal import print_tables

    texts = frozenset(
        place for place in range(len(found.columns)) if any(isinstance(row[place], str) for row in found.rows)
    )
    rows = [[_shown(value) for value in row] for row in found.rows]
    note = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    print_tables([Table("", note, found.columns, rows, 0, texts=texts)])


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
