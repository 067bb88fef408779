"""A number with its noun, as a person writes it."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """ "1 task", "2 tasks", "1,234 tasks"; `plural` where it is not the noun with an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
