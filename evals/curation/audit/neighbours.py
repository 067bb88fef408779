"""Look-alike classes: what an annotator should see beside a picture before a label is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldmark.errors import DataFault
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.evals.leaks.deciding import holds
from fieldmark.tools.image_index.features import Floats, look_of
from fieldmark.tools.image_index.look import LENGTH
from fieldmark.tools.pictures.upright import open_upright

SAMPLES = 2
"""Pictures that stand for a class: those of its first candidates."""


@dataclass(frozen=True)
class Neighbour:
    """`named`: a model answered with it; `samples`: ids of candidates of the class."""

    class_name: str
    label: str
    named: bool
    samples: list[str]


class Neighbours:
    """The classes of a project by the mean global look of their samples (`tools/image_index/look.py`). A look
    is described when it is first asked for; all classes of the import are candidates for a neighbour.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._members: dict[str, list[Candidate]] = {}
        for each in project.candidates(after="import"):
            members = self._members.setdefault(each.class_name, [])
            if len(members) < SAMPLES:
                members.append(each)
        self._looks: dict[str, Floats] = {}

    def of(self, candidate: Candidate, answers: Sequence[str], count: int = 4) -> list[Neighbour]:
        """Classes that a model named first, then the nearest by look; never its own."""
        others = [name for name in self._members if name != candidate.class_name]
        named = [name for name in others if any(holds(text, self._label(name)) for text in answers)]
        own = self._look([candidate])
        near = sorted(others, key=lambda name: -float(own @ self._of_class(name)))
        chosen = list(dict.fromkeys([*named, *near]))[:count]
        return [
            Neighbour(name, self._label(name), name in named, [each.id for each in self._members[name]])
            for name in chosen
        ]

    def _label(self, name: str) -> str:
        return self._members[name][0].label

    def _of_class(self, name: str) -> Floats:
        if name not in self._looks:
            self._looks[name] = self._look(self._members[name])
        return self._looks[name]

    def _look(self, members: list[Candidate]) -> Floats:
        looks = []
        for each in members:
            try:
                looks.append(look_of(open_upright(self._project.picture(each).read_bytes())))
            except (OSError, DataFault):
                continue
        return np.asarray(np.mean(looks, axis=0) if looks else np.zeros(LENGTH), np.float32)
