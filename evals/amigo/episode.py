"""An episode, and the set of labelled images that it is taken from.

A set is a folder with `images.jsonl` (`{"id", "image", "attributes": {type: [values]}}`, `image` relative to
the folder), `lexicon.toml` where it has words of its own, and `episodes.jsonl` once episodes were generated.
The value `none` of a type says that the thing is not there; a type that is left out is not labelled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.lexicon import Lexicon, base_lexicon, load_lexicon

IMAGES, EPISODES, LEXICON = "images.jsonl", "episodes.jsonl", "lexicon.toml"


class LabelledImage(BaseModel):
    """One image and what is true of it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    image: str = Field(min_length=1)
    attributes: dict[str, list[str]] = Field(default_factory=dict)


class Episode(BaseModel):
    """A gallery, by ids in the order of upload, and the `target` among them: gold."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    tau: float | None = None
    gallery: list[str] = Field(min_length=2)
    target: str

    @property
    def position(self) -> int:
        """Of the target, from 1."""
        return self.gallery.index(self.target) + 1


@dataclass(frozen=True)
class ImageSet:
    """See the module's docstring."""

    folder: Path
    images: dict[str, LabelledImage]
    lexicon: Lexicon

    def labels(self, episode: Episode) -> list[dict[str, list[str]]]:
        """Of the gallery, in its order."""
        return [self.images[each].attributes for each in episode.gallery]

    def pictures(self, episode: Episode) -> list[Path]:
        return [self.folder / self.images[each].image for each in episode.gallery]


def load_images(folder: Path) -> ImageSet:
    """UsageError: what is wrong with the folder, with the number of the line."""
    path = folder / IMAGES
    images: dict[str, LabelledImage] = {}
    for number, row in _rows(path):
        try:
            image = LabelledImage.model_validate(row)
        except ValidationError as error:
            raise UsageError(f"{path}, line {number}: {_first(error)}") from None
        if image.id in images:
            raise UsageError(f"{path}, line {number}: the id {image.id!r} is there twice; give each its own")
        if PurePosixPath(image.image).is_absolute() or ".." in PurePosixPath(image.image).parts:
            raise UsageError(f"{path}, line {number}: image {image.image!r} must stay in the folder")
        images[image.id] = image
    own = folder / LEXICON
    return ImageSet(folder, images, load_lexicon(own) if own.is_file() else base_lexicon())


def load_episodes(path: Path, images: ImageSet) -> list[Episode]:
    """Episodes over these images. UsageError: an unknown image, a double one, a target that is not there."""
    return [_episode(path, number, row, images) for number, row in _rows(path)]


def _episode(path: Path, number: int, row: object, images: ImageSet) -> Episode:
    try:
        episode = Episode.model_validate(row)
    except ValidationError as error:
        raise UsageError(f"{path}, line {number}: {_first(error)}") from None
    unknown = [each for each in episode.gallery if each not in images.images]
    if unknown:
        raise UsageError(f"{path}, line {number}: no image {unknown[0]!r} in {images.folder / IMAGES}")
    if len({*episode.gallery}) < len(episode.gallery):
        raise UsageError(f"{path}, line {number}: an image is twice in the gallery; leave one out")
    if episode.target not in episode.gallery:
        raise UsageError(f"{path}, line {number}: the target {episode.target!r} is not in the gallery")
    return episode


def _rows(path: Path) -> Iterator[tuple[int, object]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise UsageError(f"{path}, line {number} is no JSON object: {error}") from None


def _first(error: ValidationError) -> str:
    told = error.errors()[0]
    return f"{'.'.join(map(str, told['loc']))}: {told['msg']}"
