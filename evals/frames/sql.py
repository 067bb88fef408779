"""One SQL query over the tables of runs, by DuckDB, that can read them and do nothing else.

A query may be pasted from elsewhere: the database is in memory, has copies of the tables, no files, no
network, no extensions to load, and its settings are locked.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from fieldmark.errors import UsageError
from fieldmark.evals.frames.loading import TABLES, Frames

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET memory_limit = '2GB'",
    "SET python_enable_replacements = false",
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""Said after the tables are made: nothing from outside, not even a variable of Python, from here on."""
_BY_TEXT = {"query", "query_table"}
"""DuckDB's functions that take the name of a table as a text, which can be put together."""
_NO_TABLE = re.compile(r"Table with name (.+?) does not exist")


class Result(NamedTuple):
    """The columns of an answer and its rows, of Python values."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def ask(frames: Frames, query: str) -> Result:
    """The answer to one query. Only tables whose name stands in it are read from the run folders.

    UsageError in one line: SQL that is wrong, another statement than a query, a table that is not there.
    """
    import duckdb

    with duckdb.connect() as database:
        try:
            _only_a_query(query)
            _fill(database, frames, query)
            for setting in SETTINGS:
                database.execute(setting)
            return _answered(database, query)
        except duckdb.OutOfMemoryException:
            raise UsageError("SQL: the query needs more than 2 GB of memory: narrow it") from None
        except duckdb.Error as error:
            raise UsageError(_told(str(error))) from None


def _answered(database: DuckDBPyConnection, query: str) -> Result:
    """In a thread of its own, for DuckDB lets no Ctrl-C in while it works."""

    def work() -> Result:
        found = database.execute(query)
        return Result([column[0] for column in found.description or []], found.fetchall())

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(work)
        try:
            return answer.result()
        except KeyboardInterrupt:
            database.interrupt()
            raise


def _only_a_query(query: str) -> None:
    import duckdb

    statements = duckdb.extract_statements(query)
    if len(statements) != 1:
        raise UsageError(f"SQL: {len(statements)} statements: give one query")
    allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if statements[0].type not in allowed:
        raise UsageError(f"SQL: {statements[0].type.name} is no query: write SELECT")


def _fill(database: DuckDBPyConnection, frames: Frames, query: str) -> None:
    """Copies, for a view on a frame of pandas is an access from outside."""
    words = {word.casefold() for word in re.findall(r"\w+", query)}
    every = bool(words & _BY_TEXT)
    for name in TABLES:
        database.register("handed_over", frames.table(name) if every or name in words else frames.empty(name))
        database.execute(f'CREATE TABLE "{name}" AS FROM handed_over')
        database.unregister("handed_over")


def _told(error: str) -> str:
    """DuckDB's message without the excerpt of the query below it."""
    missing = _NO_TABLE.search(error)
    if missing:
        return f"SQL: there is no table {missing[1]}: the tables are {', '.join(TABLES)}"
    return f"SQL: {' '.join(error.partition('LINE ')[0].split())}"
