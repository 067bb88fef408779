"""Header and timeline on a terminal; plain text when the output is piped."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from fieldmark.showing.timeline import Moment, Tone

_STYLES: dict[Tone, str] = {
    "plain": "", "bad": "red", "model": "cyan", "tool": "bold", "answer": "bold green", "quiet": "dim",
}  # fmt: skip
_NAME = 10
_INDENT = " " * 27


def draw_header(lines: Iterable[tuple[str, str]], console: Console) -> None:
    for name, value in lines:
        console.print(Text.assemble((f"{name:{_NAME}}", "bold"), value), soft_wrap=True)


def draw_timeline(moments: Iterable[Moment], console: Console) -> None:
    """A line an event, what belongs to it indented below: `seq`, seconds since the lease, who tells it."""
    text = Text()
    for moment in moments:
        text.append(f"{moment.seq:>6} {moment.t:>9.2f} {moment.by:8} ", "dim")
        lines = [(moment.head, _STYLES[moment.tone])]
        lines += [(line, "red" if moment.tone == "bad" else "dim") for line in moment.below]
        for place, (line, style) in enumerate(lines):
            text.append(_INDENT if place else "")
            text.append(f"\n{_INDENT}".join(_wrapped(line, console)) + "\n", style)
    console.print(text, soft_wrap=True, end="")


def _wrapped(line: str, console: Console) -> list[str]:
    """Within the terminal; a pipe gets whole lines, which are easier to search."""
    width = console.width - len(_INDENT)
    if not console.is_terminal or 2 * len(line) <= width:
        return [line]
    return [part.plain.rstrip() for part in Text(line).wrap(console, max(width, 20), overflow="fold")]
