"""Ledger: what forager believes, on which evidence, and what it has ruled out. It never changes in place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fieldmark.agents.acting import Outcome
from fieldmark.trace import Picture

Ruling = Literal["exact", "unsure", "refuted"]

NO_EVIDENCE = frozenset({"read_skill", "answer"})
"""Tools whose results say nothing about the picture."""


@dataclass(frozen=True)
class Hit:
    """A picture that a search found: `image` is its name for `compare_images`."""

    title: str
    image: str
    score: float
    same_picture: bool


@dataclass(frozen=True)
class Evidence:
    """One result of a tool. `id` is what the model cites (E1, E2, …), `seq` the number of its event.

    `measured` is the text of a comparison that forager itself made, which no message of a tool holds.
    """

    id: str
    tool: str
    arguments: str
    seq: int | None
    pictures: tuple[Picture, ...] = ()
    hits: tuple[Hit, ...] = ()
    measured: str = ""


@dataclass(frozen=True)
class Hypothesis:
    """A name for what is in the picture. `level` is the model's word: variant, species, family, …

    `cites` are ids of evidence; one without any is unsupported. `confidence` is a fraction.
    """

    name: str
    level: str = ""
    confidence: float | None = None
    pro: tuple[str, ...] = ()
    con: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuledOut:
    """`known` is how much evidence there was then: only newer evidence brings a name back."""

    name: str
    why: str
    cites: tuple[str, ...]
    known: int


@dataclass(frozen=True)
class Thoughts:
    """What one reply says of the hypotheses; `ruled_out` are names, reasons and what these cite."""

    hypotheses: tuple[Hypothesis, ...]
    neighbour: str = ""
    tell_apart: str = ""
    ruled_out: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    observations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Whether the evidence supports exactly `candidate`. `broader` is the finest name it carries if not.

    `known` is how much evidence there was when it was given.
    """

    candidate: str
    ruling: Ruling
    why: str
    cites: tuple[str, ...]
    mark: str = ""
    missing: str = ""
    broader: str = ""
    answer: str = ""
    confidence: float | None = None
    known: int = 0


@dataclass(frozen=True)
class Ledger:
    """`neighbour` is what the best hypothesis is most easily mistaken for, `tell_apart` what decides."""

    hypotheses: tuple[Hypothesis, ...] = ()
    neighbour: str = ""
    tell_apart: str = ""
    ruled_out: tuple[RuledOut, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def best(self) -> Hypothesis | None:
        """The hypothesis of which the model is surest; of equals the first."""
        return max(self.hypotheses, key=lambda each: each.confidence or 0.0, default=None)

    def cited(self, ids: Collection[str]) -> tuple[Evidence, ...]:
        """The evidence of these ids that there is, in the order it came."""
        return tuple(each for each in self.evidence if each.id in ids)

    def with_outcomes(self, outcomes: Sequence[Outcome], *, measured: bool = False) -> Ledger:
        """What calls brought, each as evidence of its own; failed calls and skills bring none."""
        worth = [each for each in outcomes if is_evidence(each)]
        first = len(self.evidence) + 1
        added = [_evidence(f"E{n}", each, measured) for n, each in enumerate(worth, first)]
        return replace(self, evidence=(*self.evidence, *added))

    def with_thoughts(self, thoughts: Thoughts | None) -> Ledger:
        """The model's newest view. A name that was ruled out comes back only on newer evidence."""
        if thoughts is None:
            return self
        kept = tuple(each for each in thoughts.hypotheses if not self._is_out(each))
        back = {key(each.name) for each in kept}
        ledger = replace(
            self,
            hypotheses=kept or self.hypotheses,
            neighbour=thoughts.neighbour or self.neighbour,
            tell_apart=thoughts.tell_apart or self.tell_apart,
            ruled_out=tuple(each for each in self.ruled_out if key(each.name) not in back),
        )
        for row in thoughts.ruled_out:
            ledger = ledger.without(*row)
        return ledger

    def without(self, name: str, why: str, cites: tuple[str, ...]) -> Ledger:
        """The same with a name ruled out; the first reason given stays."""
        left = tuple(each for each in self.hypotheses if key(each.name) != key(name))
        if any(key(each.name) == key(name) for each in self.ruled_out):
            return replace(self, hypotheses=left)
        row = RuledOut(name, why, cites, len(self.evidence))
        return replace(self, hypotheses=left, ruled_out=(*self.ruled_out, row))

    def _is_out(self, hypothesis: Hypothesis) -> bool:
        for each in self.ruled_out:
            if key(each.name) == key(hypothesis.name):
                newer = {evidence.id for evidence in self.evidence[each.known :]}
                return newer.isdisjoint(hypothesis.cites)
        return False


def key(name: str) -> str:
    """What makes two spellings one name."""
    return "".join(char for char in name.casefold() if char.isalnum())


def is_evidence(outcome: Outcome) -> bool:
    """Whether a call brought something that can be cited: also that a search found nothing."""
    return outcome.ok and outcome.call.name not in NO_EVIDENCE


def numbered(outcomes: Sequence[Outcome], ledger: Ledger) -> list[Outcome]:
    """The outcomes as the model reads them: with the ids that `ledger.with_outcomes` gives them."""
    number, rows = len(ledger.evidence), []
    for each in outcomes:
        number += is_evidence(each)
        rows.append(replace(each, text=f"[E{number}] {each.text}") if is_evidence(each) else each)
    return rows


def _evidence(name: str, outcome: Outcome, measured: bool) -> Evidence:
    return Evidence(
        name,
        outcome.call.name,
        outcome.call.arguments,
        outcome.seq,
        tuple(outcome.pictures),
        _hits(outcome.data),
        outcome.text if measured else "",
    )


def _hits(data: object) -> tuple[Hit, ...]:
    rows = data.get("hits") if isinstance(data, dict) else None
    return tuple(
        Hit(
            str(row.get("title") or ""),
            str(row["image"]),
            float(row.get("score") or 0),
            bool(row.get("same_picture")),
        )
        for row in rows or []
        if isinstance(row, dict) and row.get("image")
    )
