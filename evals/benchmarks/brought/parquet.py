"""A parquet file, through DuckDB. Pictures that it holds itself are written out once, none is decoded.

DuckDB reads a row group as a whole: writing the pictures out takes about three times the largest in memory,
and afterwards that column is not read again.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought.opening import sha256_of
from fieldmark.evals.benchmarks.brought.unpacking import MAX_BYTES, PLACE_BYTES, cache_folder

if TYPE_CHECKING:
    import duckdb

LIST = "pictures.jsonl"
"""What a folder of written-out pictures holds: a line each with `column`, `row`, `file` and `bytes`."""
MAX_TEXT = 500 * 10**6
"""Characters of all rows without their pictures: a small file can hold the same long text a million times."""
_ENDINGS = ((b"\xff\xd8\xff", ".jpg"), (b"\x89PNG", ".png"), (b"RIFF", ".webp"))
Rows = list[tuple[str, dict[str, Any]]]


def read(path: Path) -> tuple[Rows, Path | None]:
    """Its rows, each with where it stands, and the folder of its own pictures, which its rows name.

    UsageError when it is no parquet file, or when there is no room for its pictures.
    """
    import duckdb

    with _source(path) as (database, source):
        try:
            held = _held(database, source)
            folder = _written(database, source, path, held) if held else None
            plain = f" EXCLUDE ({', '.join(map(_quoted, held))})" if held else ""
            found = database.execute(f"SELECT *{plain} FROM read_parquet(?)", [source])
            names = [column[0] for column in found.description or []]
            rows = [dict(zip(names, row, strict=True)) for row in _bounded(path, found)]
        except duckdb.OutOfMemoryException:
            raise UsageError(
                f"{path.name}: its row groups do not fit into memory: save it with smaller ones"
            ) from None
        except duckdb.Error:
            raise UsageError(f"{path.name} is no parquet file, or a damaged one: save it again") from None
    rows = [json.loads(json.dumps(row, default=str)) for row in rows]
    if folder:
        for row in jsonl.read(folder / LIST).rows:
            rows[row["row"]][row["column"]] = row["file"]
    return [(f"row {number}", row) for number, row in enumerate(rows, 1)], folder


def _bounded(path: Path, found: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """Its rows, while they are not too much. UsageError."""
    size = 0
    while rows := found.fetchmany(100):
        for row in rows:
            size += sum(len(str(value)) for value in row)
            if size > MAX_TEXT:
                raise UsageError(f"{path.name} unpacks to over {MAX_TEXT // 10**6} MB of text: not read")
            yield row


@contextmanager
def _source(path: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Through a link with a plain name, for DuckDB reads `*` and `[` in a name as a pattern."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as database:
        link = Path(folder) / "manifest.parquet"
        link.symlink_to(path.resolve())
        yield database, str(link)


def _held(database: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    """Column of pictures → the expression of their bytes: bytes themselves, or `{bytes, path}`."""
    columns = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [source]).fetchall()
    held = {}
    for name, kind, *_ in columns:
        if kind == "BLOB":
            held[name] = _quoted(name)
        elif kind.startswith("STRUCT(") and "bytes BLOB" in kind.replace('"', ""):
            held[name] = f"{_quoted(name)}.bytes"
    return held


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _written(database: duckdb.DuckDBPyConnection, source: str, path: Path, held: Mapping[str, str]) -> Path:
    """The folder of its pictures, written at the first call: a folder that is there is whole."""
    folder = cache_folder() / sha256_of(path)
    if _is_whole(folder):
        return folder
    if path.stat().st_size + PLACE_BYTES > shutil.disk_usage(folder.parent).free:
        raise UsageError(
            f"{path.name} holds pictures of {path.stat().st_size / 1e6:.0f} MB, and {folder.parent} has "
            "no room for them: make room, or set XDG_CACHE_HOME"
        )
    beside = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))  # mode 0700
    try:
        told = [
            row
            for number, (column, expression) in enumerate(held.items())
            for row in _write(
                database.execute(f"SELECT {expression} FROM read_parquet(?)", [source]),
                column,
                beside / str(number),
                path,
            )
        ]
        jsonl.write_all(beside / LIST, told)
        if folder.exists():
            shutil.rmtree(folder)
        beside.replace(folder)
    except OSError as error:
        raise UsageError(f"cannot write the pictures of {path.name}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _write(
    found: duckdb.DuckDBPyConnection, column: str, folder: Path, path: Path
) -> Iterator[dict[str, Any]]:
    folder.mkdir()
    row, size = -1, 0
    while values := found.fetchone():
        row += 1
        if data := values[0]:
            size += len(data)
            if size > MAX_BYTES:
                raise UsageError(f"{path.name} holds over {MAX_BYTES / 1e9:.0f} GB of pictures: not read")
            file = folder / f"{row + 1}{_ending(data)}"
            file.write_bytes(data)
            yield {"column": column, "row": row, "file": f"{folder.name}/{file.name}", "bytes": len(data)}


def _ending(data: bytes) -> str:
    return next((ending for magic, ending in _ENDINGS if data.startswith(magic)), "")


def _is_whole(folder: Path) -> bool:
    """Whether each picture that was written lies there in its size."""
    if not (folder / LIST).is_file():
        return False
    rows = jsonl.read(folder / LIST).rows
    return all(_size(folder / row["file"]) == row["bytes"] for row in rows)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() and not path.is_symlink() else -1
