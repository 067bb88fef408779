"""A release frozen into one zip: the same state gives the same bytes, and a version is never written anew."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought.opening import sha256_of
from fieldmark.evals.benchmarks.fika.loading import load
from fieldmark.evals.curation.datasheet import categories_svg, datasheet
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import STEPS, Candidate
from fieldmark.evals.curation.release import Item, items, statistics
from fieldmark.whole_file import write_whole

RELEASES = "releases"
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive: nothing in it tells when it was made."""
_CREDITS = ("author", "title", "url")
"""What of the provenance an attribution needs."""


@dataclass(frozen=True)
class Frozen:
    """`is_new`: whether it was written now, or lay there already with the very same bytes."""

    path: Path
    sha256: str
    items: int
    is_new: bool


def freeze(project: Project) -> Frozen:
    """Write `releases/NAME-VERSION.zip` and its `.sha256`. UsageError: no item or licence, or another release
    of that version lies there. What is written was loaded as a benchmark before.
    """
    release = project.settings.release
    if not release.licence.strip():
        raise UsageError("curate.toml has no licence in [release]: say under which the collection is given")
    found = list(items(project))
    if not found:
        raise UsageError(f"no candidate is kept by all of {', '.join(STEPS)}: `fieldmark curate status`")
    path = project.folder / RELEASES / f"{release.name}-{release.version}.zip"
    path.parent.mkdir(exist_ok=True)
    with _beside(path) as temporary:
        _write(temporary, project, found)
        digest = sha256_of(temporary)
        if path.exists() and sha256_of(path) != digest:
            raise UsageError(
                f"{path} is another release of version {release.version}: raise it in curate.toml"
            )
        is_new = not path.exists()
        if is_new:
            temporary.replace(path)
    write_whole(path.with_suffix(".sha256"), f"{digest}  {path.name}\n".encode())
    return Frozen(path, digest, len(found), is_new)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.new")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _write(path: Path, project: Project, found: list[tuple[Candidate, Item]]) -> None:
    rows = [item for _, item in found]
    told = statistics(project, rows)
    release = project.settings.release
    texts = {
        "README.md": datasheet(release, told),
        "LICENCE.txt": release.licence.strip() + "\n",
        "attribution.tsv": _attribution(found),
        "categories.svg": categories_svg(told),
        "manifest.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        "statistics.json": json.dumps(told, ensure_ascii=False, indent=2) + "\n",
    }
    pictures = {item["image"]: project.picture(candidate) for candidate, item in found}
    _prove(texts["manifest.jsonl"], pictures)
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    sums |= {name: sha256_of(picture) for name, picture in pictures.items()}
    texts["SHA256SUMS"] = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in sorted(texts.items()):
            archive.writestr(_entry(name, zipfile.ZIP_DEFLATED), text.encode())
        for name, picture in sorted(pictures.items()):
            archive.writestr(_entry(name, zipfile.ZIP_STORED), picture.read_bytes())


def _entry(name: str, how: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"data/{name}", _WHEN)
    entry.compress_type = how
    entry.external_attr = 0o644 << 16
    return entry


def _prove(manifest: str, pictures: dict[str, Path]) -> None:
    """UsageError when the benchmark that comes of it cannot be loaded."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "images").mkdir()
        (root / "manifest.jsonl").write_text(manifest, encoding="utf-8")
        for name, picture in pictures.items():
            shutil.copyfile(picture, root / name)
        load(root, {})


def _attribution(found: list[tuple[Candidate, Item]]) -> str:
    """Who made each picture, as its licence wants it said."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["id", "licence", "source", *_CREDITS])
    for candidate, item in found:
        credits: list[Any] = [candidate.provenance.get(key, "") for key in _CREDITS]
        writer.writerow([item["id"], candidate.licence, candidate.source, *credits])
    return text.getvalue()
