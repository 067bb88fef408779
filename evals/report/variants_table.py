"""The ways of scoring the Fine-R1 evaluation beside each other, and what they are averaged over."""

from __future__ import annotations

from fieldmark.evals.benchmarks.fine_r1.files import DATASETS, SPLITS
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.metrics.variants import BOTH, VariantRow, Variants
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.table import Table

_TITLE = "Scoring variants"


def variants_table(summary: Summary) -> Table:
    """A row for each variant in seen, unseen and both; no rows for another benchmark."""
    found = summary.variants
    if found is None:
        return Table(_TITLE, "", [], [])
    rows: list[list[str]] = []
    for split in (*SPLITS, BOTH):
        named = [row for row in found.rows if row.split == split]
        rows += [_tasks(split, named), *map(_row, named)] if split != BOTH else list(map(_row, named))
    partial = " · PARTIAL" if summary.partial else ""
    columns = ["variant", "split", "macro", *DATASETS]
    return Table(f"{_TITLE} · {found.world} world" + partial, _note(found), columns, rows, 2)


def _tasks(split: str, rows: list[VariantRow]) -> list[str]:
    n = rows[0].n if rows else {}
    return ["tasks (n)", split, f"{len(n)} of {len(DATASETS)}", *(str(n.get(name, 0)) for name in DATASETS)]


def _row(row: VariantRow) -> list[str]:
    cells = [percent(row.fractions.get(name)) for name in DATASETS]
    return [row.name, row.split, percent(row.macro), *cells]


def _note(found: Variants) -> str:
    told = (
        "Per cent of one and the same answers (docs/fine-r1.md says what each variant asks). macro: every "
        "dataset that is there counts the same; both: the mean of seen and unseen."
    )
    told += "".join(
        f" {split} is without {', '.join(names)}." for split, names in found.absent.items() if names
    )
    if found.options:
        told += (
            f" Options in the {found.options} order: the last row of a split is what naming the first would "
            f"score. {count(found.by_accident)} tasks have a reference that is part of another option: "
            "choosing that one passes in closed-official."
        )
    if not any(row.name.startswith("semantic") for row in found.rows):
        told += (
            " Relative semantic similarity: `fieldmark judge RUN --judge fine-r1 --judge-variant semantic`."
        )
    return told
