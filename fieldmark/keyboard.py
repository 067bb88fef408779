"""A person at the keyboard: one key, or a line; from a pipe, too. What is shown to them holds no control
character, for much of it comes from models.
"""

from __future__ import annotations

import sys

import click

QUIT = frozenset({"q", "", "\x03", "\x04"})
"""Keys that leave the rest for later; "" is the end of the input."""


def read_key() -> str:
    """A key on a terminal, else a line of the input; "" at its end, or when the person breaks off."""
    if sys.stdin.isatty():
        try:
            pressed = click.getchar()
        except (EOFError, KeyboardInterrupt):
            return ""
        click.echo(pressed if pressed.isprintable() else "", err=True)
        return pressed
    line = sys.stdin.readline()
    return line.strip() or (" " if line else "")


def read_line() -> str:
    """A line as typed, without its end; "" too when the person breaks off."""
    try:
        return sys.stdin.readline().strip()
    except KeyboardInterrupt:
        return ""


def one_line(text: str) -> str:
    """The text without control characters and line ends."""
    return "".join(char if char.isprintable() else " " for char in text)


def columns(told: dict[str, object]) -> str:
    """Name and value a line, values beneath each other."""
    return "\n".join(f"{name + ':':11}{one_line(str(value))}" for name, value in told.items())
