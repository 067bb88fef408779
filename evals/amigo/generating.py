"""Episodes from any attribute-labelled image set, after section 3.2 of the paper.

For each attribute value of a target A, images that share it and have Sim(A, B) ≥ τ are retrieved, the most
similar first; the merged pool must hold more than five. How many a value brings and how much of the pool
enters a gallery are not published: `per_value` and `most` are settings.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field

from fieldmark.evals.amigo.constraint import NONE
from fieldmark.evals.amigo.episode import Episode, ImageSet, LabelledImage

TAUS = (0.3, 0.4, 0.5, 0.6, 0.8)
"""The paper's thresholds."""
MORE_THAN = 5
Attribute = tuple[str, str]


class GeneratorSettings(BaseModel):
    """`per_value`: images retrieved for each value; `most`: images in a gallery, the target included."""

    model_config = ConfigDict(extra="forbid")

    per_value: int = Field(default=6, ge=1)
    most: int = Field(default=43, ge=MORE_THAN + 1)
    seed: int = 0


class Sizes(BaseModel):
    """Gallery sizes at one τ; the last three are None without a gallery."""

    tau: float
    episodes: int
    mean: float | None
    least: int | None
    most: int | None


def attributes(image: LabelledImage) -> frozenset[Attribute]:
    """Attr(X): what is there; that a thing is absent is no attribute."""
    return frozenset((kind, v) for kind, values in image.attributes.items() for v in values if v != NONE)


def similarity(a: LabelledImage, b: LabelledImage) -> float:
    """Sim(A, B) = |Attr(A) ∩ Attr(B)| / |Attr(A)|: not symmetric; 0 for an A without attributes."""
    own = attributes(a)
    return len(own & attributes(b)) / len(own) if own else 0.0


def pool(target: LabelledImage, images: Sequence[LabelledImage], tau: float, per_value: int) -> list[str]:
    """The ids of the merged distractors of a target, the most similar first."""
    near = [(similarity(target, each), each) for each in images if each.id != target.id]
    ranked = sorted((pair for pair in near if pair[0] >= tau), key=lambda pair: (-pair[0], pair[1].id))
    found: set[str] = set()
    for value in attributes(target):
        sharing = [each.id for _, each in ranked if value in attributes(each)]
        found.update(sharing[:per_value])
    return [each.id for _, each in ranked if each.id in found]


def generate(images: ImageSet, tau: float, settings: GeneratorSettings) -> list[Episode]:
    """One episode a target whose pool is large enough; the same seed gives the same galleries in order."""
    all_ = [*images.images.values()]
    episodes = []
    for target in all_:
        distractors = pool(target, all_, tau, settings.per_value)
        if len(distractors) <= MORE_THAN:
            continue
        drawn = random.Random(f"{settings.seed}/{tau}/{target.id}")
        gallery = [target.id, *drawn.sample(distractors, min(len(distractors), settings.most - 1))]
        drawn.shuffle(gallery)
        episodes.append(
            Episode(id=f"t{round(tau * 10):02}-{target.id}", tau=tau, gallery=gallery, target=target.id)
        )
    return episodes


def sizes(tau: float, episodes: Sequence[Episode]) -> Sizes:
    counts = [len(each.gallery) for each in episodes if each.tau == tau]
    if not counts:
        return Sizes(tau=tau, episodes=0, mean=None, least=None, most=None)
    return Sizes(tau=tau, episodes=len(counts), mean=fmean(counts), least=min(counts), most=max(counts))
