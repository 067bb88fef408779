"""The tables as a reader gets them: on the terminal and in the page, each row as one line of words."""

from __future__ import annotations

from click.testing import CliRunner
from lxml import html

from fieldmark.commands.report import command
from fieldmark.rundir import RunDir


def printed(*runs: RunDir) -> str:
    """What `fieldmark report` prints, with one space between cells."""
    arguments = [str(run.path) for run in runs]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return "\n".join(" ".join(line.split()) for line in result.stdout.splitlines())


def page(run: RunDir) -> dict[str, list[str]]:
    """The tables of report.html: title → rows."""
    tables = {}
    for table in html.fromstring(run.report_html.read_bytes()).iter("table"):
        rows = [[cell.text_content() for cell in row.iter("td", "th")] for row in table.iter("tr")]
        tables[table.findtext("caption") or ""] = [" ".join(" ".join(row).split()) for row in rows]
    return tables
