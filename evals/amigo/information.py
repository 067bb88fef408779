"""What a question is worth: the bits by which the feasible set is expected to shrink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2

from fieldmark.evals.amigo.answering import Labels
from fieldmark.evals.amigo.constraint import ANY, NONE, Constraint
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.verification import Split, Verification


def gain(feasible: int, split: Split) -> float:
    """log2 of the set now, less the expected log2 of the set after the answer; each image as likely.

    Images of which the question is neither true nor false stay, whatever the answer, and could be the
    target of an Unsure.
    """
    yes, no = (feasible & split.yes).bit_count(), (feasible & split.no).bit_count()
    all_ = feasible.bit_count()
    unknown = all_ - yes - no
    if not all_:
        return 0.0
    after = [(count, count + unknown) for count in (yes, no)] + [(unknown, all_)]
    return log2(all_) - sum(count / all_ * log2(left) for count, left in after if count)


def askable(labels: Sequence[Labels], lexicon: Lexicon) -> list[Constraint]:
    """Every question of one value, or of any value, that the labels of a gallery can answer and the lexicon
    can put into words.
    """
    found: dict[Constraint, None] = {}
    for name, kind in lexicon.types.items():
        seen = {value for each in labels for value in each.get(name, ())}
        found |= {Constraint(type=name, values=(v,)): None for v in kind.values if v in seen}
        if NONE in seen and kind.present and len(seen) > 2:
            found[Constraint(type=name, values=(ANY,))] = None
    return [*found]


def best(
    verification: Verification, feasible: int, askable: Iterable[Constraint], asked: set[str]
) -> tuple[float, Constraint | None]:
    """The most that a question of a type not in `asked` can gain, and the first such question."""
    most, chosen = 0.0, None
    for constraint in askable:
        if constraint.type not in asked:
            worth = gain(feasible, verification.split("", constraint))
            if worth > most:
                most, chosen = worth, constraint
    return most, chosen
