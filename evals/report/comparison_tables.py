"""A Comparison as plain tables of text."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.comparison.comparison import Comparison, Versus
from fieldmark.evals.comparison.twin import Twin
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.shares import Interval
from fieldmark.evals.report.figures import count, interval, percent, points
from fieldmark.evals.report.memory_table import effects_table
from fieldmark.evals.report.table import Table

_LONG = 60
"""Characters of a value that are shown."""


def comparison_tables(made: Comparison) -> list[Table]:
    """What differs between the runs comes first."""
    effects = [versus.memory for versus in made.versus if versus.memory]
    memory = [effects_table(effects)] if effects else []
    return [*(_differences(versus) for versus in made.versus), *paired_tables(made), *memory]


def paired_tables(made: Comparison) -> list[Table]:
    """What came out: the tasks pair by pair, the tests, gains, and the tasks that flipped or are left out."""
    twins = [_twin(versus.twin) for versus in made.versus if versus.twin]
    gains = [_gains(made)] if any(versus.gain for versus in made.versus) else []
    tasks = [table for versus in made.versus for table in _tasks(versus)]
    return [_paired(made), _tests(made), *gains, *twins, *tasks]


def _differences(versus: Versus) -> Table:
    rows = [
        [difference.aspect, key, _short(one), _short(other)]
        for difference in versus.differences
        for key, one, other in difference.details
    ]
    paired = versus.paired
    follows = [f"{', '.join(versus.follows)}: only because another thing differs"] if versus.follows else []
    told = [*versus.warnings, *follows] or ["At most one thing differs"]
    title = f"What differs: {paired.b} against {paired.a}"
    note = " ".join(f"{line}." for line in told)
    return Table(title, note, ["aspect", "key", paired.a, paired.b], rows or [["nothing", *"–––"]], 4)


def _paired(made: Comparison) -> Table:
    columns = [*_heads(made), *"tasks in both|both right|only first|only it|neither|first %|it %".split("|")]
    rows = [
        [
            *_names(made, versus),
            *map(str, (table.n, table.both, table.only_a, table.only_b, table.neither)),
            percent(versus.paired.accuracy_a),
            percent(versus.paired.accuracy_b),
        ]
        for versus in made.versus
        for table in [versus.paired.table]
    ]
    note = (
        f"{_first(made)}Tasks that both runs have done. %: strict accuracy on them, the mean over "
        "epochs first; a task is right in the table when more than half of its epochs are."
    )
    return Table("Task by task" + _partial(made), note, columns, rows, len(_heads(made)))


def _tests(made: Comparison) -> Table:
    columns = [*_heads(made), *"difference|CI 95%|clusters|flipped|p exact|p mid|p Holm".split("|")]
    rows = [
        [
            *_names(made, versus),
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
        f"Holm: the exact one, corrected for {counted(len(made.versus), 'comparison')}."
    )
    return Table("Difference" + _partial(made), note, columns, rows, len(_heads(made)))


def _gains(made: Comparison) -> Table:
    """Of the comparisons whose runs differ in tools or skills alone."""
    rows = [
        [
            *_names(made, versus),
            versus.gain,
            points(paired.difference),
            points_interval(paired.interval),
            str(len(paired.gained)),
            str(len(paired.lost)),
            f"{paired.p_exact:.4f}",
            f"{paired.p_mid:.4f}",
        ]
        for versus in made.versus
        if versus.gain
        for paired in [versus.paired]
    ]
    columns = [*_heads(made), *"tool gain of|points|CI 95%|gained|lost|p exact|p mid".split("|")]
    note = "The same agent and model on the same tasks; nothing else differs. The figures are those above."
    return Table("Tool gain" + _partial(made), note, columns, rows, len(_heads(made)) + 1)


def _twin(twin: Twin) -> Table:
    """The four outcomes of each category."""
    rows = [
        [row.top, row.outcome, count(row.share), percent(row.share.fraction), interval(row.interval)]
        for row in twin.rows
    ]
    note = (
        f"helped: {twin.agent} is right and {twin.closed_book}, the same model closed book, is not; "
        "hurt: the other way round. Of the tasks that both have done. CI: Wilson's, of independent tasks."
    )
    columns = ["category", "outcome", "tasks", "%", "CI 95%"]
    return Table(f"Helped or hurt: {twin.agent} against closed book", note, columns, rows, 2)


def twin_line(twin: Twin) -> str:
    """The four outcomes of all categories, in one line."""
    found = [f"{row.outcome} {round(row.share.count)}" for row in twin.rows if row.top == ALL]
    n = next(row.share.n for row in twin.rows if row.top == ALL)
    return f"{twin.agent} against closed book: {', '.join(found)} of {counted(n, 'task')}"


def _tasks(versus: Versus) -> list[Table]:
    paired = versus.paired
    flipped = [["lost", task] for task in paired.lost] + [["gained", task] for task in paired.gained]
    left_out = [[group.why, task] for group in paired.unpaired for task in group.ids]
    note = f"lost: only {paired.a} is right; gained: only {paired.b} is."
    pair = f"{paired.b} against {paired.a}"
    return [
        Table(title, told, [head, "task"], rows, 2)
        for title, told, head, rows in (
            (f"Flipped tasks: {pair}", note, "how", flipped),
            (f"Tasks left out: {pair}", "They are in no figure above.", "why", left_out),
        )
        if rows
    ]


def _heads(made: Comparison) -> list[str]:
    return ["run"] if made.baseline else ["first", "run"]


def _names(made: Comparison, versus: Versus) -> list[str]:
    return [versus.paired.b] if made.baseline else [versus.paired.a, versus.paired.b]


def _first(made: Comparison) -> str:
    return f"first: {made.baseline}. " if made.baseline else ""


def points_interval(value: Interval | None) -> str:
    """The interval of a difference, in percentage points."""
    return "–" if value is None else f"{points(value.low)} to {points(value.high)}"


def _partial(made: Comparison) -> str:
    return f" · PARTIAL: {', '.join(made.partial)}" if made.partial else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
