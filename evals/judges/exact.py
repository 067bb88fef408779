"""The `exact` judge: no model, no world knowledge, the same verdict every time.

    correct             equal to gold or an alias
    correct, finer      listed in `gold.finer`; or gold followed only by detail (`details.py`); or gold that
                        ends in a bare model number, continued by a hyphen ("Boeing 737" -> "Boeing 737-800",
                        not "737-747": a number one digit away is another model)
    partially_correct   listed in `gold.broader`; or a part of gold that keeps its head ("swallow" of "barn
                        swallow", "Boeing 737" of "Boeing 737-800") and does not merely repeat the question
    incorrect           everything else, with a reason that says when `exact` could not decide
    uncertain           only when gold itself holds no text

A word before gold is never taken for detail (a Mexican petunia is no petunia), but for an operator before a
model number; nor is a letter or word after a model number (737-800F, 5D Mark II). Doubt, alternatives and
answers longer than `MAX_CHARACTERS` do not pass. `match="exact_text"` compares whole texts with only NFKC,
dashes, case and white space folded, because a registration read as `b–2501n` is B-2501N; every other
character counts.
"""

from __future__ import annotations

import re

from fieldmark.evals.judges.base import Judge, Judgement
from fieldmark.evals.judges.details import Reference, Words, adds_only_detail, without_operator
from fieldmark.evals.judges.normalise import atoms, fold, fold_case, words
from fieldmark.evals.judges.phrases import hedges, unquote, unwrap
from fieldmark.task import Gold

MAX_CHARACTERS = 500
"""Longer answers to an `entity` question are prose, which `exact` does not search."""

_VARIANT = re.compile(r"-(\d{1,4})[A-Za-z]{0,4}(?!\w|-)")
_BARE_NUMBER = re.compile(r"\D.*(?<!\d)(?<!\d-)\d+")
"""A model number without a variant: "Boeing 737", "MD-11", not "737-800", not a plain quantity or year."""
_HAS_NUMBER = re.compile(r"\d")
_ROUND = re.compile(r"[1-9]0+")
_OF = frozenset({"of", "in", "at", "by", "from"})


class ExactJudge:
    """See the module's docstring for its rules."""

    name = "exact"

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        if answer is None or not fold(answer):
            return Judgement.of("incorrect", "no answer")
        if not fold(gold.answer):
            return Judgement.of("uncertain", "the reference is empty, nothing to compare with")
        if gold.match == "exact_text" or not words(gold.answer):
            return _judge_text(gold, answer)
        if len(answer.strip()) > MAX_CHARACTERS:
            return Judgement.of("incorrect", f"longer than {MAX_CHARACTERS} characters: exact reads no prose")
        return _judge_entity(question, gold, unquote(fold(answer)))


JUDGE: Judge = ExactJudge()


def _judge_text(gold: Gold, answer: str) -> Judgement:
    given = fold_case(answer)
    if any(given == fold_case(text) for text in [gold.answer, *gold.aliases] if fold(text)):
        return Judgement.of("correct", "the same text as the reference")
    return Judgement.of("incorrect", f"not the text of the reference ({gold.answer!r})")


def _judge_entity(question: str, gold: Gold, text: str) -> Judgement:
    plain = unwrap(text)
    given = {words(text), words(plain)} - {()}
    names, finer = _names([gold.answer, *gold.aliases]), _names(gold.finer)
    if given & set(names):
        return Judgement.of("correct", "equal to the reference or an alias")
    if given & set(finer):
        return Judgement.of("correct", "listed as more specific than the reference", finer=True)
    if given & set(_names(gold.broader)):
        return Judgement.of("partially_correct", "listed as broader than the reference")
    for name in sorted([*names.values(), *finer.values()], key=len, reverse=True):
        reference = Reference(name, frozenset(names), frozenset(finer), question)
        bare = without_operator(plain, question) if _HAS_NUMBER.search(name) else plain
        detailed = _gold_with_detail(bare, reference)
        if detailed is not None:
            more = detailed or bare != plain or words(name) in finer
            return Judgement.of("correct", f"{name!r} and only detail after it", finer=more)
    if any(_is_broader(words(plain), name) for name in names.values()) and not _repeats(plain, question):
        return Judgement.of("partially_correct", "a part of the reference that keeps its head: broader")
    return Judgement.of("incorrect", _why_not(text, list(names)))


def _names(texts: list[str]) -> dict[Words, str]:
    """The words of each name, with and without its article, and the text they come from."""
    folded = [unquote(fold(text)) for text in texts]
    forms = [form for text in folded for form in (text, unwrap(text))]
    return {words(form): form for form in forms if words(form)}


def _gold_with_detail(plain: str, reference: Reference) -> bool | None:
    """None unless the answer is gold with only detail after it; else whether the detail says more."""
    found = atoms(plain)
    length = len(reference.words)
    if tuple(atom.text for atom in found[:length]) != reference.words:
        return None
    tail = plain[found[length - 1].end :]
    variant = _VARIANT.match(tail) if _BARE_NUMBER.fullmatch(reference.name) else None
    if variant and _other_model(reference.words[-1], variant[1]):
        return None
    if variant:
        tail = tail[variant.end() :]
    detailed = adds_only_detail(tail, reference, cased=any(char.isupper() for char in plain))
    return None if detailed is None else detailed or variant is not None


def _other_model(number: str, following: str) -> bool:
    """Whether a number behind a hyphen reads as a sibling, as in "737-747", "A320-321", "iPhone 14-15".

    A round one is a variant ("A330-300", "DC-10-30").
    """
    if len(number) != len(following) or _ROUND.fullmatch(following):
        return False
    return sum(one != other for one, other in zip(number, following, strict=True)) < 2


def _is_broader(given: Words, name: str) -> bool:
    """Whether `given` is a part of gold that keeps its head.

    With a number in gold: from the start up to a word that contains or follows it ("Boeing 737" of "Boeing
    737-800", not "Boeing", not "iPhone 5" of "iPhone 5s"). Else: the last words of a common name ("swallow"
    of "barn swallow"), or two words or more before an "of" ("Leaning Tower" of "Leaning Tower of Pisa"). A
    capital at the head makes a proper name, whose parts name nothing ("Night" of "The Starry Night"); CJK
    text has neither capitals nor spaces to tell.
    """
    found = atoms(name)
    gold = tuple(atom.text for atom in found)
    if not given or len(given) >= len(gold):
        return False
    number = next((place for place, word in enumerate(gold) if word.isdecimal()), None)
    if number is not None:
        glued = found[len(given) - 1].end == found[len(given)].start
        return gold[: len(given)] == given and len(given) > number and not glued
    head = gold[: next((place for place, word in enumerate(gold) if place and word in _OF), len(gold))]
    if len(head) < len(gold):
        return given == head and len(head) > 1
    common = name[found[-1].start].islower()
    return common and gold[-len(given) :] == given


def _repeats(plain: str, question: str) -> bool:
    return set(words(plain)) <= set(words(question))


def _why_not(text: str, names: list[Words]) -> str:
    if hedges(text):
        return "doubts, denies or offers alternatives: exact takes one plain answer"
    given = words(text)
    if any(name == given[start : start + len(name)] for name in names for start in range(len(given))):
        return "holds the reference, but exact cannot tell whether the other words are compatible"
    return "does not match the reference, its aliases or its finer and broader names"
