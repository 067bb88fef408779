"""Galleries for AMIGO, bundled or of the user's own: each episode of a set of labelled images is a task.

A folder with `images.jsonl`, `episodes.jsonl` and, for words of its own, `lexicon.toml` (docs/amigo.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.episode import (
    EPISODES,
    IMAGES,
    LEXICON,
    Episode,
    ImageSet,
    load_episodes,
    load_images,
)
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.loading import GALLERIES
from fieldmark.task import Gold, Labels, Task

NEEDED = "a folder with images.jsonl and episodes.jsonl; see docs/amigo.md"
"""What `--data` must be."""
KIND = "gallery_position"
"""Of gold: a position in a gallery."""


@dataclass(frozen=True)
class Galleries:
    """What a benchmark's games are played over; `episodes` by id of the task."""

    images: ImageSet
    episodes: Mapping[str, Episode]


def bundled() -> Benchmark:
    """The drawn garments."""
    folder = Path(str(files("fieldmark.evals.benchmarks"))) / GALLERIES.replace("-", "_")
    return _read(folder, GALLERIES)


def load(data: Path, said: Mapping[str, str]) -> Benchmark:
    """UsageError: what is wrong with the folder, in one line."""
    if said:
        raise UsageError("--map is for a manifest: galleries have none, leave it out")
    folder = data.expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"--data {data}: no such folder; name {NEEDED}")
    return _read(folder, "amigo")


def _read(folder: Path, name: str) -> Benchmark:
    images = load_images(folder)
    episodes = load_episodes(folder / EPISODES, images)
    by_id = {each.id: each for each in episodes}
    if not episodes or len(by_id) < len(episodes):
        told = "an id stands twice" if episodes else "it holds no episode"
        raise UsageError(f"{folder / EPISODES}: {told}; give each episode a line and an id of its own")
    return Benchmark(
        name=name,
        version=_version(folder),
        tasks=[_task(each, images) for each in episodes],
        description=f"{len(episodes)} galleries of {images.lexicon.noun}s with a hidden target",
        data={"images": len(images.images), "noun": images.lexicon.noun},
        galleries=Galleries(images, by_id),
    )


def _task(episode: Episode, images: ImageSet) -> Task:
    noun, size = images.lexicon.noun, len(episode.gallery)
    pictures = images.pictures(episode)
    return Task(
        id=episode.id,
        question=f"Which of these {size} pictures shows the {noun} chosen in secret? Ask to find out.",
        image=pictures[0],
        gallery=pictures,
        gold=Gold(answer=f"image {episode.position}", aliases=[f"#{episode.position}"], kind=KIND),
        labels=Labels(facets={"tau": f"{episode.tau:g}"} if episode.tau is not None else {}),
    )


def _version(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in (IMAGES, EPISODES, LEXICON):
        path = folder / name
        data = path.read_bytes() if path.is_file() else b""
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:12]
