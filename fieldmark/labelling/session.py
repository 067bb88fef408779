"""One person's sitting: a sample of the wrong answers, a few keys for each, kept as they are said.

Nobody sees what another person or the classifier said; a label given where it was seen (`fieldmark view`) is
none of a sitting. A sitting goes on where the last one was left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from fieldmark.clock import utc
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.failure_validity import CLASSIFIER
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.findings import ChainKind, FailureMark, Link
from fieldmark.keyboard import QUIT
from fieldmark.labelling import showing
from fieldmark.labelling.sample import draw
from fieldmark.rundir import RunDir

Move = Literal["skip", "back", "quit"]
Chosen = TypeVar("Chosen")
Key = tuple[str, int]
NAME_CHARACTERS = 40
MOVES: dict[str, Move] = {"s": "skip", "b": "back"}
OTHER_KEYS = "n note   t whole trace   ? what they mean   s skip   b back   q later"


@dataclass(frozen=True)
class Person:
    """Who labels, by which keys and lines, and where is told what."""

    name: str
    key: Callable[[], str]
    line: Callable[[], str]
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        check_name(self.name)


def check_name(name: str, option: str = "--annotator") -> None:
    """UsageError: nobody can be called that."""
    bad = not name or len(name) > NAME_CHARACTERS or not name.isprintable()
    if bad or name == CLASSIFIER:
        raise UsageError(
            f"{option} {name!r}: give a name of 1 to {NAME_CHARACTERS} characters, and not {CLASSIFIER!r}"
        )


@dataclass(frozen=True)
class Sitting:
    """What a person has done of the sample, and who else has labelled any of it."""

    sample: int
    labelled: int
    others: list[str]

    @property
    def left(self) -> int:
        return self.sample - self.labelled


def label_run(
    folder: RunDir, person: Person, *, sample: int, annotators: int, seed: int, scheme: str | None = None
) -> Sitting:
    """Ask about what the person has not labelled yet. `scheme`: the broken link is said by Pix2Fact's scheme.

    UsageError: nothing is wrong, gold is not here, or `annotators` other persons have labelled already.
    """
    drawn = draw(cells(folder), sample, seed)
    _check(folder, drawn)
    keys = {_key(cell) for cell in drawn}
    marks = [mark for mark in folder.failure_marks() if mark.key in keys and not mark.sighted]
    if scheme:
        marks = [mark for mark in marks if mark.scheme == scheme]
    others = sorted({mark.annotator for mark in marks} - {person.name})
    if len(others) >= annotators:
        raise UsageError(
            f"{', '.join(others)} have labelled {folder.path} already: go on as one of them with --annotator,"
            f" or ask for more with --annotators {len(others) + 1}"
        )
    mine = {mark.key: mark for mark in marks if mark.annotator == person.name}
    left = len(drawn) - len(mine)
    person.say(f"{person.name}: {len(drawn)} of the wrong answers, drawn at random; {left} left")
    _Loop(folder, person, drawn, mine, scheme).run()
    return Sitting(len(drawn), len(mine), others)


def _check(folder: RunDir, drawn: list[Cell]) -> None:
    if not drawn:
        raise UsageError(
            f"no answer of {folder.path} is wrong: label another run, or judge this one first with"
            f" `fieldmark judge {folder.path}`"
        )
    if not folder.gold():
        raise UsageError(f"no gold in {folder.gold_file}: label where the run was made")


@dataclass
class _Loop:
    """`mine` is what the person has said so far; it grows."""

    folder: RunDir
    person: Person
    drawn: list[Cell]
    mine: dict[Key, FailureMark]
    scheme: str | None = None

    def run(self) -> None:
        at = self._next(0)
        while at < len(self.drawn):
            cell = self.drawn[at]
            self.person.say(f"\n{at + 1}/{len(self.drawn)}")
            self.person.say(showing.answer(self.folder, cell))
            said = self._ask(cell)
            if said == "quit":
                return
            if said == "back":
                at = max(0, at - 1)
                continue
            if isinstance(said, FailureMark):
                self._keep(said)
            at = self._next(at + 1)

    def _next(self, at: int) -> int:
        """The place, from `at` on, of an answer that has no label yet."""
        while at < len(self.drawn) and _key(self.drawn[at]) in self.mine:
            at += 1
        return at

    def _keep(self, mark: FailureMark) -> None:
        self.folder.add_failure_mark(mark)
        self.mine[mark.key] = mark
        self.person.say(f"→ {showing.said(mark)}")

    def _ask(self, cell: Cell) -> FailureMark | Move:
        """The person's label, or what to do instead."""
        before, note = self.mine.get(_key(cell)), ""
        if before:
            self.person.say(f"your label: {showing.said(before)}")
        self.person.say(f"{showing.classes()}\n{OTHER_KEYS}")
        while True:
            pressed = self.person.key().lower()
            if pressed in QUIT or pressed in MOVES:
                return MOVES.get(pressed, "quit")
            if pressed == "n":
                self.person.say("note:")
                note = self.person.line()
            elif pressed in showing.CLASS_KEYS:
                try:
                    return self._mark(cell, pressed, note)
                except _TakenBack as taken:
                    if taken.quits:
                        return "quit"
                    self.person.say("which class?")
            else:
                self._help(cell, pressed)

    def _help(self, cell: Cell, pressed: str) -> None:
        if pressed == "t":
            self.person.say("\n".join(showing.trace(self.folder, cell, showing.WHOLE)))
        elif pressed == "?":
            self.person.say(showing.definitions(chain=self.scheme is not None))

    def _mark(self, cell: Cell, pressed: str, note: str) -> FailureMark:
        """Ask for sub-class and broken link of a class."""
        label, sub = showing.CLASS_KEYS[pressed], None
        if label == "wrong_entity_retrieval":
            sub = self._choose(f"{label}:  n not retrieved   m misjudged   - cannot say", showing.SUB_KEYS)
        link = self._choose(
            f"{label}, first broken link:  g grounding   r retrieval   s reasoning   - none",
            showing.LINK_KEYS,
        )
        kind = self._kind(link) if self.scheme and link else None
        return FailureMark(
            id=cell.id, epoch=cell.epoch, annotator=self.person.name, label=label, sub=sub, link=link,
            kind=kind, scheme=self.scheme, note=note, when=utc(),
        )  # fmt: skip

    def _kind(self, link: Link) -> ChainKind | None:
        keys = showing.kind_keys(link)
        asked = "   ".join(f"{key} {kind or 'none of them'}" for key, kind in keys.items())
        return self._choose(f"{link}:  {asked}", keys)

    def _choose(self, asked: str, keys: Mapping[str, Chosen]) -> Chosen:
        self.person.say(asked)
        while (pressed := self.person.key().lower()) not in keys:
            if pressed in QUIT or pressed == "b":
                raise _TakenBack(quits=pressed != "b")
        return keys[pressed]


class _TakenBack(Exception):
    """The keys so far do not count; `quits`: nor does the person go on."""

    def __init__(self, *, quits: bool) -> None:
        super().__init__()
        self.quits = quits


def _key(cell: Cell) -> Key:
    return (cell.id, cell.epoch)
