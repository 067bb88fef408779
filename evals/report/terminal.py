"""The tables on a terminal, within 100 columns; plain text when the output is piped."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import headline, marks
from fieldmark.evals.report.runs_tables import comparisons
from fieldmark.evals.report.sections import tables
from fieldmark.evals.report.table import Table

WIDTH = 100
"""Columns at most, and where the output is no terminal."""
_MANY = 8
"""Tables with more columns get one word a line in their headings."""


def print_report(summary: Summary, console: Console | None = None) -> None:
    """The headline, what to be careful about, and every table of one run."""
    console = console or make_console()
    run = summary.run
    console.print(_text(run.name + marks(summary), "bold"))
    console.print(
        _text(f"{run.agent} · {run.model} · {run.benchmark} · judge: {', '.join(run.judges) or 'none'}")
    )
    console.print(_text(headline(summary), "bold"))
    for caveat in summary.caveats:
        console.print(_text(f"! {caveat}", "yellow"))
    for table in tables(summary):
        print_table(table, console)


def print_comparison(summaries: list[Summary], console: Console | None = None) -> None:
    print_tables(comparisons(summaries), console)


def print_tables(made: Iterable[Table], console: Console | None = None) -> None:
    console = console or make_console()
    for table in made:
        print_table(table, console)


def make_console() -> Console:
    """Stdout; colours and the true width only on a terminal."""
    console = Console(highlight=False)
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns) if console.is_terminal else WIDTH
    return Console(highlight=False, width=width)


def print_table(table: Table, console: Console) -> None:
    drawn = RichTable(
        title=_text(table.title, "bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for place, name in enumerate(table.columns):
        text = table.is_text(place)
        heading = _text(name) if len(table.columns) <= _MANY else Text("\n").join(map(_text, name.split()))
        drawn.add_column(heading, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    for index, row in enumerate(table.rows):
        total = index in table.totals
        ends = total and index + 1 not in table.totals
        drawn.add_row(*(_text(cell) for cell in row), style="bold" if total else None, end_section=ends)
    console.print(drawn)
    console.print(_text(table.note, "dim"))
    console.print()


def _text(raw: str, style: str = "") -> Text:
    """Text that is never read as markup and holds no control character: names can come from a model."""
    spaced = (" " if char.isspace() else char for char in raw)
    return Text("".join(char if char.isprintable() else "\ufffd" for char in spaced), style=style)
