"""Header and timeline on a terminal; plain text when the output is piped."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from fieldmark.showing.pictures import Draw
from fieldmark.showing.timeline import Moment, Tone

_STYLES: dict[Tone, str] = {
    "plain": "", "bad": "red", "model": "cyan", "tool": "bold", "answer": "bold green", "quiet": "dim",
}  # fmt: skip
_NAME = 10
_INDENT = " " * 27


def draw_header(lines: Iterable[tuple[str, str]], console: Console) -> None:
    for name, value in lines:
        console.print(Text.assemble((f"{name:{_NAME}}", "bold"), value), soft_wrap=True)


def draw_timeline(moments: Iterable[Moment], console: Console, draw: Draw | None = None) -> None:
    """A line an event, what belongs to it indented below: `seq`, seconds since the lease, who tells it.

    `draw` draws the pictures that are new with an event.

    A pipe gets whole lines, which are easier to search, without Rich, which takes its time.
    """
    width = max(console.width - len(_INDENT), 20)
    for moment in moments:
        start = f"{moment.seq:>6} {moment.t:>9.2f} {moment.by:8} "
        if console.is_terminal:
            console.print(_styled(moment, start, console, width), soft_wrap=True)
        else:
            console.file.write(f"\n{_INDENT}".join([start + moment.head, *moment.below]) + "\n")
        if draw:
            for picture in moment.pictures:
                draw(picture)


def _styled(moment: Moment, start: str, console: Console, width: int) -> Text:
    below = "red" if moment.tone == "bad" else "dim"
    lines = [*_wrapped(Text(moment.head, _STYLES[moment.tone]), console, width)]
    lines += [part for line in moment.below for part in _wrapped(Text(line, below), console, width)]
    return Text.assemble((start, "dim"), Text(f"\n{_INDENT}").join(lines))


def _wrapped(line: Text, console: Console, width: int) -> Iterable[Text]:
    return [line] if 2 * len(line) <= width else line.wrap(console, width, overflow="fold")
