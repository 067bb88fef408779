"""What the votes on all pictures come to: labels, agreement, and the files of a set for AMIGO."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel

from fieldmark.evals.amigo.episode import EPISODES, IMAGES, LEXICON, LabelledImage, load_images
from fieldmark.evals.amigo.generating import generate
from fieldmark.evals.curation.attributes.settings import Settings
from fieldmark.evals.curation.attributes.state import Pictured
from fieldmark.evals.curation.attributes.voting import Decision, Vote, decide, ratings
from fieldmark.evals.curation.audit.agreement import alpha
from fieldmark.whole_file import write_whole

DECISIONS = "decisions.jsonl"


class TypeCount(BaseModel):
    """Of one type: pictures by what was decided. `alpha`: Krippendorff's, of all answers Yes and No to each
    value of each picture; None where it is not defined.
    """

    clear: int = 0
    doubt: int = 0
    conflict: int = 0
    no_value: int = 0
    alpha: float | None = None


class Labels:
    """Takes in picture after picture; holds decisions and Yes and No, no reply."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.images: list[LabelledImage] = []
        self.decided: list[tuple[str, Decision]] = []
        self._units: dict[str, list[list[str]]] = {name: [] for name in settings.types}

    def add(self, picture: Pictured, votes: Sequence[Vote]) -> None:
        found = [
            decide(name, kind, votes, self._settings.keep_from) for name, kind in self._settings.types.items()
        ]
        self.decided += [(picture.id, each) for each in found]
        attributes = {each.type: each.label for each in found if each.why == "clear"}
        self.images.append(LabelledImage(id=picture.id, image=picture.path, attributes=attributes))
        for name, kind in self._settings.types.items():
            own = [vote for vote in votes if vote.type == name]
            self._units[name] += [ratings(value, own) for value in kind.values]

    def counts(self) -> dict[str, TypeCount]:
        found = {name: TypeCount(alpha=alpha(units)) for name, units in self._units.items()}
        for _, each in self.decided:
            field = each.why.replace(" ", "_")
            setattr(found[each.type], field, getattr(found[each.type], field) + 1)
        return found


def write(folder: Path, labels: Labels, settings: Settings) -> dict[float, int]:
    """`images.jsonl`, `lexicon.toml`, `decisions.jsonl` and `episodes.jsonl`; τ → episodes."""
    write_whole(folder / LEXICON, lexicon_toml(settings).encode())
    write_whole(folder / IMAGES, _lines(each.model_dump() for each in labels.images))
    write_whole(folder / DECISIONS, _lines({"id": id_, **asdict(each)} for id_, each in labels.decided))
    images, asked = load_images(folder), settings.episodes
    episodes = {tau: generate(images, tau, asked) for tau in asked.taus}
    write_whole(folder / EPISODES, _lines(each.model_dump() for found in episodes.values() for each in found))
    return {tau: len(found) for tau, found in episodes.items()}


def lexicon_toml(settings: Settings) -> str:
    """The words of the schema as the game reads them (`evals/amigo/lexicon.py`)."""
    lines = [f"noun = {json.dumps(settings.noun, ensure_ascii=False)}"]
    for name, kind in settings.types.items():
        table = f"{'prohibited' if kind.prohibited else 'types'}.{json.dumps(name)}"
        if kind.prohibited:
            lines += ["", f"[{table}]", f"name = {json.dumps(name.replace('_', ' '))}"]
        lines += ["", f"[{table}.values]"]
        lines += [
            f"{json.dumps(value)} = {json.dumps(phrases, ensure_ascii=False)}"
            for value, phrases in kind.values.items()
        ]
    return "\n".join(lines) + "\n"


def _lines(rows: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    return ((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in rows)
