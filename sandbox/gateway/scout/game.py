"""How `builtin/scout` plays AMIGO: by what `inspect_picture` read off each picture, and by nothing else.

It asks what splits the pictures that are left most evenly (the most expected bits), each type of attribute
once, and guesses when one is left or nothing more can be told. Where answers contradict each other, it
guesses the picture that breaks the fewest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any

LOOK = "inspect_picture"
END = "End of uploading"
_BATCH = re.compile(r"pictures (\d{1,4}) to (\d{1,4})")
ANY, NONE = "any", "none"
_NAMES = {
    "neckline": {
        **{"v": "a V-neckline", "round": "a round neckline", "square": "a square neckline"},
        **{"boat": "a boat neckline", "sweetheart": "a sweetheart neckline"},
    },
    "hemline": {
        **{"straight": "a straight hemline", "high_low": "a high-low hemline"},
        **{"ruffled": "a ruffled hemline", "scalloped": "a scalloped hemline"},
        "pointed": "a pointed hemline",
    },
    "closure": {"buttons": "front buttons", "zip": "a front zipper", "wrap": "a wrap front"},
    "pockets": {"patch": "patch pockets", "welt": "welt pockets"},
    "collar": {"pointed": "a pointed collar", "rounded": "a rounded collar"},
    "waist": {"belt": "a belt", "tie": "a tie at the waist", "elastic": "an elasticated waistband"},
    "skirt": {"tiered": "a tiered skirt", "pleated": "a pleated skirt", "plain": "a plain skirt"},
    "slit": {"side": "a side slit", "front": "a front slit"},
}
_PRESENT = {
    **{"closure": "a visible closure", "pockets": "pockets", "collar": "a collar"},
    **{"waist": "a waist detail", "slit": "a slit"},
}
"""What a value is called, and any value but `none`; only such things are asked about."""
Attributes = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """A question of ours, and the answer where there was one: Yes is True, No False."""

    kind: str
    value: str
    answer: bool | None


@dataclass(frozen=True)
class Move:
    """A text, or the numbers of pictures to look at first."""

    text: str = ""
    look_at: tuple[int, ...] = ()


def move(said: list[tuple[str, str]], looked: list[Any]) -> Move:
    """The next move. `said`: role and text of each message; `looked`: data of the looks so far."""
    told = "\n".join(text for role, text in said if role == "user")
    shown = [n for a, b in _BATCH.findall(told) for n in range(int(a), int(b) + 1)]
    known = dict(_read(looked))
    new = tuple(number for number in shown if number not in known)
    if new and not _gave_up(said, looked):
        return Move(look_at=new)
    if not any(role == "user" and text.rstrip().endswith(END) for role, text in said):
        return Move("Understood.")
    asked = list(_asked(said))
    pictures = {number: known.get(number, {}) for number in shown}
    left = _left(pictures, asked)
    question = _best(left, {each.kind for each in asked}) if len(left) > 1 else None
    return Move(question or f"My guess of your favorite {_noun(told)}: #{next(iter(left), 1)}")


_QUESTIONS = {
    f"Does your favorite have {name}?": (kind, value)
    for kind, names in _NAMES.items()
    for value, name in [*names.items(), *([(ANY, _PRESENT[kind])] if kind in _PRESENT else [])]
}


def _read(looked: list[Any]) -> Iterator[tuple[int, Attributes]]:
    for data in looked:
        if isinstance(data, dict) and isinstance(data.get("picture"), int):
            found = data.get("attributes")
            yield (
                data["picture"],
                {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {},
            )


def _gave_up(said: list[tuple[str, str]], looked: list[Any]) -> bool:
    """The last looks brought nothing: they are not tried for ever."""
    return bool(said) and said[-1][0] == "tool" and not any(_read(looked[-1:]))


def _asked(said: list[tuple[str, str]]) -> Iterator[Asked]:
    turns = [(role, text) for role, text in said if role in ("user", "assistant") and text]
    for (role, text), (_, answer) in pairwise(turns):
        if role == "assistant" and text in _QUESTIONS:
            kind, value = _QUESTIONS[text]
            yield Asked(kind, value, {"Yes": True, "No": False}.get(answer.strip()))


def _left(pictures: dict[int, Attributes], asked: list[Asked]) -> dict[int, Attributes]:
    """The pictures that break the fewest answers; of one that could not be read, none is known to."""
    told = [each for each in asked if each.answer is not None]
    wrong = {
        number: sum(_fits(read, each.kind, each.value) != each.answer for each in told if each.kind in read)
        for number, read in pictures.items()
    }
    fewest = min(wrong.values(), default=0)
    return {number: pictures[number] for number, count in wrong.items() if count == fewest}


def _best(left: dict[int, Attributes], asked: set[str]) -> str | None:
    """The question whose answer is the least sure; None: none tells the pictures apart."""
    worth = {}
    for text, (kind, value) in _QUESTIONS.items():
        yes = sum(_fits(read, kind, value) for read in left.values()) / len(left)
        if kind not in asked and 0 < yes < 1:
            worth[text] = -yes * log2(yes) - (1 - yes) * log2(1 - yes)
    return max(worth, key=lambda text: worth[text], default=None)


def _fits(read: Attributes, kind: str, value: str) -> bool:
    has = read.get(kind, NONE)
    return has != NONE if value == ANY else has == value


def _noun(told: str) -> str:
    found = re.search(r"My guess of your favorite ([^:\n]{1,40}):", told)
    return found[1] if found else "one"
