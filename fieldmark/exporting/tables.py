"""The tables of `fieldmark.load` as files: one row an episode, one a tool call, and so on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark.evals.frames.loading import TABLES, Frames
from fieldmark.exporting.excel import write_csv
from fieldmark.exporting.place import new
from fieldmark.findings import TraceFacts

if TYPE_CHECKING:
    from pandas import DataFrame

_PUBLIC_FACTS = {"run", *TraceFacts.model_fields}


def export_parquet(frames: Frames, out: Path, *, private: bool) -> dict[str, int]:
    """`<table>.parquet` in the new folder `out`; the rows of each. Missing is null."""
    import duckdb

    rows = {}
    with new(out) as folder, duckdb.connect() as database:
        folder.mkdir()
        for name in TABLES:
            table = _table(frames, name, private=private)
            database.register("handed_over", table)
            path = str(folder / f"{name}.parquet").replace("'", "''")
            database.execute(f"COPY (FROM handed_over) TO '{path}' (FORMAT parquet)")
            database.unregister("handed_over")
            rows[name] = len(table)
    return rows


def export_csv(frames: Frames, out: Path, *, private: bool) -> dict[str, int]:
    """`<table>.csv` in the new folder `out`, safe to open in Excel; missing is an empty cell."""
    rows = {}
    with new(out) as folder:
        folder.mkdir()
        for name in TABLES:
            table = _table(frames, name, private=private)
            values = table.astype(object).where(table.notna(), None)
            write_csv(folder / f"{name}.csv", list(table.columns), values.itertuples(index=False, name=None))
            rows[name] = len(table)
    return rows


def _table(frames: Frames, name: str, *, private: bool) -> DataFrame:
    """Without what only gold could tell, unless it is asked for."""
    table = frames.table(name)
    if name != "facts" or private:
        return table
    return table[[column for column in table.columns if column in _PUBLIC_FACTS]]
