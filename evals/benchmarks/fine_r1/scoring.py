"""The ways in which an answer of the Fine-R1 evaluation is scored, each by its name, each a pure function.

    closed-official   what stands between <answer> tags, in lower case and with spaces for `_`, holds gold;
                      without tags it is wrong. The released code of arXiv 2602.07605.
    closed-strict     the answer is the option that is gold, and nothing more
    card              the whole output holds gold, as it is written (the benchmark card's `score_accuracy`)
    text-inclusion    what stands between the tags, else the whole output, holds gold in lower case; of a car
                      the last two words of gold (body and year) are left out. The released code.
    open-strict       the answer is gold, and nothing more; of a car also without its last two words

Official rules read the output; strict ones read the answer that the agent's reader made of it, so that an
agent that answers by a tool has one. Both compare whole names: a petunia is no mexican petunia.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, get_args

from fieldmark.evals.judges.base import Given
from fieldmark.evals.judges.normalise import fold, words
from fieldmark.evals.judges.phrases import unquote
from fieldmark.task import Gold

Variant = Literal["closed-official", "closed-strict", "card", "text-inclusion", "open-strict"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
CAR = "car"
CAR_TAIL = 2
"""Words at the end of a car's name that text inclusion leaves out."""
_TAGS = re.compile(r"<answer>(.*)</answer>", re.DOTALL)


def tagged(output: str) -> str | None:
    """What stands from the first opening to the last closing tag; None without them, or if it is blank."""
    match = _TAGS.search(output)
    return (match[1].strip() or None) if match else None


def plain(text: str) -> str:
    """In lower case, with spaces for underscores."""
    return text.lower().replace("_", " ")


def stem(gold: Gold) -> str:
    """What text inclusion looks for. A car's name of two words or fewer stays whole."""
    kept = gold.answer.lower().split()[:-CAR_TAIL]
    return " ".join(kept) if gold.kind == CAR and kept else plain(gold.answer)


def closed_official(given: Given, gold: Gold) -> bool:
    found = tagged(given.raw)
    return found is not None and plain(gold.answer) in plain(found)


def closed_strict(given: Given, gold: Gold) -> bool:
    return _is(given.answer, gold.answer)


def card(given: Given, gold: Gold) -> bool:
    return gold.answer in _output(given)


def text_inclusion(given: Given, gold: Gold) -> bool:
    return stem(gold) in (tagged(given.raw) or _output(given)).lower()


def open_strict(given: Given, gold: Gold) -> bool:
    return _is(given.answer, gold.answer) or _is(given.answer, stem(gold))


SCORES: dict[Variant, Callable[[Given, Gold], bool]] = {
    "closed-official": closed_official,
    "closed-strict": closed_strict,
    "card": card,
    "text-inclusion": text_inclusion,
    "open-strict": open_strict,
}


def default_variant(gold: Gold) -> Variant:
    """That of the verdict: strict where options were offered, text inclusion where none were."""
    return "closed-strict" if gold.options else "text-inclusion"


def _output(given: Given) -> str:
    return given.raw or given.answer or ""


def _is(answer: str | None, name: str) -> bool:
    """The same words in the same order; case, quotation marks and end punctuation do not matter."""
    return bool(words(name)) and _words(answer or "") == _words(name)


def _words(text: str) -> tuple[str, ...]:
    return words(unquote(fold(text)))
