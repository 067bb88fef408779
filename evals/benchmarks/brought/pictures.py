"""The pictures that a manifest names: how an item names its own, and where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def image_path(value: Any) -> Any:
    """A path; also as the only entry of a list, or under `path` of an object. What is no text stays."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("path")
    return value.replace("\\", "/") if isinstance(value, str) else value


def inside(pictures: str, image: Any) -> Any:
    """A named picture in the folder `pictures`; what is no name stays, to be refused."""
    return str(Path(pictures) / image) if isinstance(image, str) and image.strip() else image


def pictures_folder(items: Sequence[Mapping[str, Any]], key: str, root: Path, manifest: Path) -> str:
    """The folder, relative to `root`, under which most of the named pictures are there."""
    near = manifest.parent
    folders = dict.fromkeys([near, root, near / "images", root / "images"])
    names = [name for item in items if isinstance(name := image_path(item.get(key)), str) and name.strip()]

    def there(folder: Path) -> int:
        return sum(_is_file(folder / name) for name in names)

    return max(folders, key=there).relative_to(root).as_posix()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
