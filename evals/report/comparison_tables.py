"""A Comparison as plain tables of text."""

from __future__ import annotations

from fieldmark.evals.comparison.comparison import Comparison, Versus
from fieldmark.evals.metrics.shares import Interval
from fieldmark.evals.report.figures import percent, points
from fieldmark.evals.report.table import Table

_LONG = 60
"""Characters of a value that are shown."""


def comparison_tables(made: Comparison) -> list[Table]:
    """What differs between the runs comes first."""
    return [*(_differences(made, versus) for versus in made.versus), *paired_tables(made)]


def paired_tables(made: Comparison) -> list[Table]:
    """What came out: the tasks pair by pair, the tests, the tasks that flipped or are left out."""
    return [_paired(made), _tests(made), *(table for v in made.versus for table in _tasks(made, v))]


def _differences(made: Comparison, versus: Versus) -> Table:
    rows = [
        [difference.aspect, key, _short(one), _short(other)]
        for difference in versus.differences
        for key, one, other in difference.details
    ]
    title = f"What differs: {versus.paired.b} against {made.baseline}"
    note = " ".join(f"{line}." for line in versus.warnings) or "At most one thing differs."
    return Table(
        title, note, ["aspect", "key", made.baseline, versus.paired.b], rows or [["nothing", *"–––"]], 4
    )


def _paired(made: Comparison) -> Table:
    columns = "run|tasks in both|both right|only first|only it|neither|first %|it %".split("|")
    rows = [
        [
            versus.paired.b,
            *map(str, (table.n, table.both, table.only_a, table.only_b, table.neither)),
            percent(versus.paired.accuracy_a),
            percent(versus.paired.accuracy_b),
        ]
        for versus in made.versus
        for table in [versus.paired.table]
    ]
    note = (
        f"first: {made.baseline}. Tasks that both runs have done. %: strict accuracy on them, the mean over "
        "epochs first; a task is right in the table when more than half of its epochs are."
    )
    return Table("Task by task" + _partial(made), note, columns, rows)


def _tests(made: Comparison) -> Table:
    columns = "run|difference|CI 95%|clusters|flipped|p exact|p mid|p Holm".split("|")
    rows = [
        [
            versus.paired.b,
            points(versus.paired.difference),
            points_interval(versus.paired.interval),
            str(versus.paired.clusters),
            str(versus.paired.table.only_a + versus.paired.table.only_b),
            *(f"{p:.4f}" for p in (versus.paired.p_exact, versus.paired.p_mid, versus.paired.p_holm)),
        ]
        for versus in made.versus
    ]
    note = (
        "difference: in percentage points, it less the first; CI: paired bootstrap over targets (tasks with "
        f"the same gold answer; seed {made.seed}). p: McNemar's test of the flipped tasks, exact and mid-p; "
        f"Holm: the exact one, corrected for {len(made.versus)} comparison(s)."
    )
    return Table("Difference" + _partial(made), note, columns, rows)


def _tasks(made: Comparison, versus: Versus) -> list[Table]:
    paired = versus.paired
    flipped = [["lost", task] for task in paired.lost] + [["gained", task] for task in paired.gained]
    left_out = [[group.why, task] for group in paired.unpaired for task in group.ids]
    note = f"lost: only {made.baseline} is right; gained: only {paired.b} is."
    return [
        Table(title, told, [head, "task"], rows, 2)
        for title, told, head, rows in (
            (f"Flipped tasks of {paired.b}", note, "how", flipped),
            (f"Tasks left out with {paired.b}", "They are in no figure above.", "why", left_out),
        )
        if rows
    ]


def points_interval(value: Interval | None) -> str:
    """The interval of a difference, in percentage points."""
    return "–" if value is None else f"{points(value.low)} to {points(value.high)}"


def _partial(made: Comparison) -> str:
    return f" · PARTIAL: {', '.join(made.partial)}" if made.partial else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
