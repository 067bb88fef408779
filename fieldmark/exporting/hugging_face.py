"""A run as a dataset folder of Hugging Face: one row an episode, Parquet with an Image feature, and a card.

    README.md  data/test.parquet

`datasets.load_dataset(folder)` reads it. By default it follows the rules of `public.py`, and is proved.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.exporting.episode import Told, told
from fieldmark.exporting.hugging_face_card import card
from fieldmark.exporting.place import new
from fieldmark.exporting.proof import Found, GoldSearch
from fieldmark.exporting.public import gold_search
from fieldmark.rundir import RunDir

PUBLIC = {
    "id": "string", "epoch": "int64", "attempt": "int64", "status": "string", "agent": "string",
    "model": "string", "answer": "string", "confidence": "float64", "verdict": "string", "score": "float64",
    "finer": "bool", "judge": "string", "seconds": "float64", "charged_seconds": "float64",
    "model_calls": "int64", "input_tokens": "int64", "output_tokens": "int64", "cost_usd": "float64",
    "image_sha256": "string",
}  # fmt: skip
"""Column → dtype, of what may be published."""
SHOWN = {
    "image": "image", "question": "string", "split": "string", "top": "string", "mid": "string",
    "language": "string",
}  # fmt: skip
"""What only a benchmark's owner may publish."""
GOLD = {"gold": "string", "aliases": "strings"}
_SQL = {
    "string": "VARCHAR", "int64": "BIGINT", "float64": "DOUBLE", "bool": "BOOLEAN", "strings": "VARCHAR[]",
    "image": "STRUCT(bytes BLOB, path VARCHAR)",
}  # fmt: skip
_ROWS_IN_A_GROUP = 100
"""Readers hold a group of rows in memory, with its pictures."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Written:
    """`found` is gold in what was to be published; then nothing was. `searched`: phrases and links."""

    rows: int
    searched: int
    found: list[Found]


def export_hugging_face(run: RunDir, out: Path, *, pictures: bool, private: bool) -> Written:
    """Write the new folder `out`: what may be published; with `pictures` the question and picture too.

    `private`: those and gold, without a proof. UsageError: as `export_public`.
    """
    search = None if private else gold_search(run)
    columns = PUBLIC | (SHOWN if pictures or private else {}) | (GOLD if private else {})
    with new(out) as folder:
        (folder / "data").mkdir(parents=True)
        text = card(run, columns, private=private)
        (folder / "README.md").write_text(text, encoding="utf-8", errors="replace")
        found = _gold_in(search, "README.md", text) if search else []
        rows = _write(run, folder / "data" / "test.parquet", columns, search, found)
        if found:
            shutil.rmtree(folder)
    return Written(rows, len(search) if search else 0, found)


def _write(
    run: RunDir, path: Path, columns: dict[str, str], search: GoldSearch | None, found: list[Found]
) -> int:
    """The rows, by way of a database on disk: pictures are many. Gold in them is added to `found`."""
    import duckdb

    beside, name = path.parents[2] / "rows.duckdb", f"data/{path.name}"
    with duckdb.connect(beside) as database:
        database.execute(f"CREATE TABLE rows ({', '.join(f'{key} {_SQL[columns[key]]}' for key in columns)})")
        insert = f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})"
        count = 0
        for count, row in enumerate(_rows(run), 1):
            if search:
                words = "\n".join(str(row[key]) for key in columns if key not in ("answer", "image"))
                found += _gold_in(search, name, words, count)
            database.execute(insert, [row[key] for key in columns])
        if not found:
            target = str(path).replace("'", "''")
            options = f"FORMAT parquet, ROW_GROUP_SIZE {_ROWS_IN_A_GROUP}"
            database.execute(f"COPY rows TO '{target}' ({options})")
    return count


def _rows(run: RunDir) -> Iterator[Row]:
    """Every column of every episode; gold where it is here."""
    blobs = run.blob_store()
    return (_row(episode, blobs) for episode in told(run, private=True))


def _row(episode: Told, blobs: BlobStore) -> Row:
    record, verdict, gold = episode.record, episode.cell.verdict, episode.gold
    tokens = record.tokens
    return {
        "id": record.id, "epoch": record.epoch, "attempt": record.attempt, "status": record.status,
        "agent": record.agent, "model": record.model, "answer": record.answer,
        "confidence": record.confidence, "verdict": verdict and verdict.label,
        "score": verdict and verdict.score, "finer": verdict and verdict.finer,
        "judge": verdict and verdict.judge, "seconds": record.seconds,
        "charged_seconds": record.charged_seconds, "model_calls": record.counts.get("model_calls"),
        "input_tokens": tokens and tokens.input, "output_tokens": tokens and tokens.output,
        "cost_usd": record.cost, "image_sha256": episode.image and episode.image.blob,
        "image": _image(episode, blobs), "question": episode.question,
        **{name: episode.labels.get(name) for name in ("split", "top", "mid", "language")},
        "gold": gold and gold.answer, "aliases": gold and gold.aliases,
    }  # fmt: skip


def _image(episode: Told, blobs: BlobStore) -> Row | None:
    """The picture of the task as the agent was given it; None where it is not in this copy of the run."""
    if episode.image is None:
        return None
    try:
        return {"bytes": blobs.get(episode.image.blob), "path": blobs.path(episode.image.blob).name}
    except (KeyError, OSError):
        return None


def _gold_in(search: GoldSearch, file: str, text: str, line: int = 0) -> list[Found]:
    return [Found(file, line, what) for what in sorted(search.in_text(text))]
