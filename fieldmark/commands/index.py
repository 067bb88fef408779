"""`fieldmark index`: a picture index over a folder for reverse image search, and queries to it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.counting import counted
from fieldmark.errors import DataFault, ToolError, UsageError

if TYPE_CHECKING:
    from fieldmark.tools.image_index.building import Built
    from fieldmark.tools.image_index.local_index import Hit
    from fieldmark.trace import Box

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


class BoxType(click.ParamType[Any]):
    """`x1,y1,x2,y2` in pixels."""

    name = "x1,y1,x2,y2"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Box:
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != 4 or not all(math.isfinite(number) for number in numbers):
            self.fail(f"{value!r}: give four numbers of pixels, such as 120,80,640,400", param, ctx)
        return (numbers[0], numbers[1], numbers[2], numbers[3])


@click.group("index")
def command() -> None:
    """Build a picture index over a folder for reverse image search, and search in it. No network is used.

    \b
    fieldmark index build photos/ --labels photos.tsv
    fieldmark index query photos/ --image unknown.jpg
    fieldmark tool reverse_image_search --index photos/ --image unknown.jpg
    """


@command.command("build")
@click.argument("folder", type=_FOLDER)
@click.option(
    "--labels", type=_FILE, help="Rows about the pictures.  [default: FOLDER/index.jsonl, if there]"
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="[default: FOLDER/.fieldmark-index]"
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object at the end.")
def build(folder: Path, labels: Path | None, out: Path | None, as_json: bool) -> int:
    """Describe the pictures of FOLDER; on a later call only those that are new or changed.

    Labels are rows of file, title, page, source and entity (or label); hits of one entity are one result.
    Without labels a picture is named after its sub-folder. Broken pictures are named and left out: exit code
    1. A build that was stopped goes on where it was.

    \b
    fieldmark index build photos/
    fieldmark index build photos/ --labels photos.tsv --out photos.index
    """
    from fieldmark.tools.image_index.building import build as build_index

    with _progress() as show:
        built = build_index(folder, labels, out, progress=show)
    if as_json:
        problems = [{"file": file, "problem": why} for file, why in built.problems]
        click.echo(json.dumps(vars(built) | {"problems": problems}, ensure_ascii=False))
    else:
        _tell(built)
    return 1 if built.problems else 0


@command.command("query")
@click.argument("folder", type=_FOLDER)
@click.option("--image", type=_FILE, required=True, help="The picture to search for.")
@click.option("--box", type=BoxType(), help="Only this part of it, in its pixels.")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def query(folder: Path, image: Path, box: Box | None, limit: int, as_json: bool) -> None:
    """Search for a picture in the index of FOLDER (or in the folder that `build --out` named).

    Scores from 0.5: the same object or scene, verified by geometry; below: it only looks alike.

    \b
    fieldmark index query photos/ --image unknown.jpg --box 120,80,640,400
    """
    from fieldmark.tools.image_index.local_index import LocalIndex

    index = LocalIndex.open(folder)
    if not index.is_current:
        click.echo("(the last build was not finished: build again; until then it is as before)", err=True)
    try:
        hits = index.query(_read(image, box), limit)
    except (DataFault, ToolError) as error:
        raise UsageError(f"{image}: {error}") from None
    if as_json:
        rows = [hit.public() | {"entity": hit.entity, "region": hit.region} for hit in hits]
        click.echo(json.dumps({"found": bool(rows), "hits": rows}, ensure_ascii=False))
    else:
        for hit in hits:
            click.echo(_line(hit))


def _read(image: Path, box: Box | None) -> bytes:
    from fieldmark.tools.pictures.images import cut

    data = image.read_bytes()
    return data if box is None else cut(data, box, scale=1.0, media_type="image/png")[0]


def _line(hit: Hit) -> str:
    kind = "same object or scene" if hit.score >= 0.5 else "only looks alike"
    kind = "the same picture" if hit.same_picture else kind
    named = "" if hit.entity == hit.title else f" [{hit.entity}]"
    source = f" ({hit.source})" if hit.source else ""
    page = f", {hit.page}" if hit.page else ""
    return f"{hit.rank}. {hit.title}{named}{source}{page}: score {hit.score:.2f}, {kind}"


def _tell(built: Built) -> None:
    for file, why in built.problems:
        click.echo(f"{file}: {why}", err=True)
    broken = f", {len(built.problems):,} broken left out" if built.problems else ""
    removed = f", {built.removed:,} removed" if built.removed else ""
    click.echo(
        f"{counted(built.pictures, 'picture')} in the index: {built.described:,} new or changed{removed}"
        f"{broken} ({built.seconds:.1f} s)"
    )


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, elsewhere a line now and then; on stderr."""
    from rich.console import Console
    from rich.progress import Progress

    from fieldmark.progress import LINE_EVERY

    console = Console(stderr=True)
    last = time.monotonic()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("describing", total=None)

        def show(done: int, total: int) -> None:
            nonlocal last
            bar.update(task, completed=done, total=total)
            if not console.is_terminal and time.monotonic() - last > LINE_EVERY:
                last = time.monotonic()
                click.echo(f"{done:,} of {counted(total, 'picture')} described", err=True)

        yield show
