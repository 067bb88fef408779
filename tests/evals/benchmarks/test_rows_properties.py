"""A tasks.jsonl of anything at all: it is loaded, or refused in one line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.loading import load_benchmark

NAMES = st.sampled_from(
    "id question image answer aliases gold labels facets category mid regions top".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["a.png", "../a.png", "/etc/passwd", "a\x00b", "~/a", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=3), inner),
    max_leaves=10,
)  # fmt: skip
GOOD = {"id": "t", "question": "What is it?", "image": "a.png", "answer": "an apple"}


@given(
    st.lists(st.dictionaries(NAMES, VALUES, max_size=6).map(lambda row: {**GOOD, **row}) | VALUES, max_size=4)
)
def test_any_rows_are_tasks_or_one_clear_line(rows: list[Any]) -> None:
    folder = Path(tempfile.mkdtemp()).resolve()
    path = folder / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    _load(path, folder)


@given(st.binary(max_size=200))
def test_any_bytes_are_tasks_or_one_clear_line(data: bytes) -> None:
    folder = Path(tempfile.mkdtemp()).resolve()
    path = folder / "tasks.jsonl"
    path.write_bytes(data)
    _load(path, folder)


def _load(path: Path, folder: Path) -> None:
    try:
        tasks = load_benchmark(str(path)).tasks
    except UsageError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert tasks
        assert all(task.image.is_relative_to(folder) for task in tasks)
        assert len({task.id for task in tasks}) == len(tasks)
    assert "\n" not in refusal
    assert not refusal or str(path) in refusal
