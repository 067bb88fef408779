"""The folder of a Hugging Face dataset as it is loaded: Parquet files, or an image folder with metadata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.curation.sources import folders, rows
from fieldmark.evals.curation.sources.found import Found


def is_one(folder: Path) -> bool:
    """Whether it holds Parquet files, `metadata.csv` or `metadata.jsonl`."""
    return bool(_tables(folder)) or any(folder.rglob("*.arrow"))


def read(folder: Path) -> Iterator[Found]:
    """Files in order of their names. UsageError: only Arrow files, which `datasets` alone reads."""
    tables = _tables(folder)
    if not tables and any(folder.rglob("*.arrow")):
        raise UsageError(
            f'{folder} was written by `save_to_disk`: write it by `dataset.to_parquet("set.parquet")`, and'
            " name that"
        )
    for table in tables:
        place = table.relative_to(folder).as_posix()
        for found in rows.read(table):
            yield replace(found, origin=f"{place}/{found.origin}")
    if not tables:
        yield from folders.read(folder)


def _tables(folder: Path) -> list[Path]:
    parquet = sorted(folder.rglob("*.parquet"))
    return parquet or sorted([*folder.rglob("metadata.csv"), *folder.rglob("metadata.jsonl")])
