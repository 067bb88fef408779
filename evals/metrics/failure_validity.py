"""Whether the labels of wrong answers can be believed: persons against each other and the classifier.

Compared are the answers that both labelled and that are wrong by the current verdicts. Where the classifier
left an answer open, there is nothing to compare. Of the broken links, "none named" is a class like others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from pydantic import BaseModel

from fieldmark.evals.failures.agreement import Agreement, agreement
from fieldmark.evals.metrics.doubts import DOUBT
from fieldmark.findings import Failure, FailureMark

CLASSIFIER = "classifier"
"""Stands beside the names of persons: none of them may have it."""
NONE = "none named"
Key = tuple[str, int]
Said = dict[Key, tuple[str, str | None]]
"""What one rater said of each answer: (label, link); no link where it was said by a scheme of others."""


class FailureValidity(BaseModel):
    """`labelled`: annotator → wrong answers that have a label of theirs; `sighted`: how many of these were
    given in sight of another label, so that they agree with it more easily. `labels` and `links` are the
    pairs, persons first; empty means not validated. `doubted`: annotator → correct answers whose verdict they
    doubt.
    """

    labelled: dict[str, int]
    sighted: int
    labels: list[Agreement]
    links: list[Agreement]
    doubted: dict[str, int] = {}


def validity(
    marks: Sequence[FailureMark], failures: Mapping[Key, Failure | None], correct: Collection[Key] = ()
) -> FailureValidity:
    """`failures` holds every wrong answer, None where it is not classified; `correct` are the right ones."""
    persons: dict[str, Said] = {}
    for mark in marks:
        if mark.key in failures:
            persons.setdefault(mark.annotator, {})[mark.key] = (mark.label, _link(mark))
    classified: Said = {
        key: (each.label, each.link or NONE) for key, each in failures.items() if each and each.label
    }
    names = sorted(persons)
    pairs = [(one, other, persons[one], persons[other]) for one, other in combinations(names, 2)]
    if classified:
        pairs += [(name, CLASSIFIER, persons[name], classified) for name in names]
    return FailureValidity(
        labelled={name: len(persons[name]) for name in names},
        sighted=sum(mark.sighted for mark in marks if mark.key in failures),
        labels=[_agreement(*pair, place=0) for pair in pairs],
        links=[_agreement(*pair, place=1) for pair in pairs],
        doubted=_doubted(marks, correct),
    )


def _doubted(marks: Sequence[FailureMark], correct: Collection[Key]) -> dict[str, int]:
    names = [mark.annotator for mark in marks if mark.label == DOUBT and mark.key in correct]
    return dict(sorted(Counter(names).items()))


def _agreement(first: str, second: str, one: Said, other: Said, *, place: int) -> Agreement:
    both = [(one[key][place], other[key][place]) for key in sorted(one.keys() & other.keys())]
    return agreement(first, second, [(a, b) for a, b in both if a is not None and b is not None])


def _link(mark: FailureMark) -> str | None:
    return None if mark.scheme else mark.link or NONE
