"""An item of a manifest becomes a row of `evals.benchmarks.rows`: fields by their mapped keys, made plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldmark.evals.benchmarks.fika import labels
from fieldmark.evals.benchmarks.fika.lists import links, texts


def to_row(item: Mapping[str, Any], mapping: Mapping[str, str], pictures: str) -> dict[str, Any]:
    """`pictures` is their folder, relative to the root. What is no text stays, to be refused."""
    said = {field: item.get(key) for field, key in mapping.items()}
    image = _image(said["image"])
    question = _text(said["question"])
    answer, aliases = _answers(said["answer"], texts(said.get("aliases")))
    gold = {"answer": answer, "aliases": aliases, "evidence": links(said.get("evidence"))}
    gold |= {name: texts(said[name]) for name in ("finer", "broader") if name in said}
    if said.get("match"):
        gold["match"] = said["match"]
    return {
        "id": _text(said["id"]),
        "question": question,
        "image": str(Path(pictures) / image) if isinstance(image, str) and image.strip() else image,
        "gold": gold,
        "labels": {
            "split": labels.split(said.get("split")),
            "top": labels.top(said.get("top")),
            "mid": labels.english(said.get("mid")),
            "source": labels.english(said.get("source")),
            "language": labels.language(said.get("language"), question if isinstance(question, str) else ""),
        },
    }


def pictures_folder(items: Sequence[Mapping[str, Any]], key: str, root: Path, manifest: Path) -> str:
    """The folder, relative to `root`, under which most of the named pictures are there."""
    near = manifest.parent
    folders = dict.fromkeys([near, root, near / "images", root / "images"])
    names = [name for item in items if isinstance(name := _image(item.get(key)), str) and name.strip()]

    def there(folder: Path) -> int:
        return sum(_is_file(folder / name) for name in names)

    return max(folders, key=there).relative_to(root).as_posix()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _image(value: Any) -> Any:
    """A path; also as the only entry of a list, or under `path` of an object."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("path")
    return value.replace("\\", "/") if isinstance(value, str) else value


def _text(value: Any) -> Any:
    """Numbers that a format has as numbers are texts here."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _answers(answer: Any, aliases: Any) -> tuple[Any, Any]:
    """A list of answers is the answer and more aliases."""
    if isinstance(answer, list) and answer and isinstance(aliases, list):
        return answer[0], [*answer[1:], *aliases]
    return _text(answer), aliases
