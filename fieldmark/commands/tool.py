"""`fieldmark tool`: one tool, from a shell; the same inside a container and on the host."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.errors import DataFault, UsageError

if TYPE_CHECKING:
    from fieldmark.task import OcrEngine, Prompt
    from fieldmark.tools.inside import FilingContext
    from fieldmark.tools.outside import HostContext
    from fieldmark.trace import Picture

    _World = FilingContext | HostContext

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("tool")
@click.argument("name", required=False)
@click.option("--json", "arguments", metavar="JSON", default="{}", help="The arguments, one JSON object.")
@click.option("--image", type=_FILE, help="The picture (host only; inside a container: the task's).")
@click.option("--index", type=_FOLDER, help="A picture index for reverse_image_search (host only).")
@click.option("--registry", type=_FILE, help="A registry for aircraft_registry, CSV or SQLite (host only).")
@click.option("--web", type=click.Choice(["live"]), help="Let open_page reach the web (host only).")
@click.option("--site", type=_FOLDER, help="Pages for open_page, a folder for each host (host only).")
@click.option("--ocr", type=click.Choice(["tesseract", "rapidocr"]), help="What reads text (host only).")
@click.option(
    "--out",
    type=_FOLDER,
    help="Where pictures are written.  [default: a temporary folder; inside a container: the workspace]",
)
def command(
    name: str | None,
    arguments: str,
    image: Path | None,
    index: Path | None,
    registry: Path | None,
    web: str | None,
    site: Path | None,
    ocr: OcrEngine | None,
    out: Path | None,
) -> None:
    """Call the tool NAME and print one JSON line {ok, text, data, pictures}; without NAME list the tools.

    Exit code 0 also when the tool could not do its job (ok is false); 2 for bad usage.

    \b
    fieldmark tool
    fieldmark tool ocr --json '{"mode": "registration"}' --image photo.jpg
    fieldmark tool open_page --json '{"url": "https://example.org/"}' --web live
    """
    if image is None and _socket().exists():
        prompt = _prompt()
        _call_or_list(name, arguments, prompt.tools, lambda: _inside(prompt, out))
    else:
        _call_or_list(name, arguments, None, lambda: _outside(image, index, registry, web, site, ocr, out))


def _call_or_list(
    name: str | None,
    arguments: str,
    offered: list[str] | None,
    context: Callable[[], _World],
) -> None:
    """`offered` are the tools of the episode, None: all there are."""
    from fieldmark.tools.registry import get_tool, tool_names

    names = list(tool_names()) if offered is None else offered
    if name is None:
        _list(names)
        return
    tool = get_tool(name)
    if name not in names:
        raise UsageError(f"tool {name} is not offered in this episode; offered: {', '.join(names) or 'none'}")
    from fieldmark.tools.calling import call_tool

    world = context()
    result = call_tool(tool, arguments, world, door="command")
    pictures = [_described(picture, world) for picture in result.pictures]
    row = {"ok": result.ok, "text": result.text, "data": result.data, "pictures": pictures}
    if not result.ok:
        row["error_kind"] = result.error_kind
    click.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))


def _list(names: list[str]) -> None:
    from fieldmark.tools.registry import get_tool

    for name in names:
        tool = get_tool(name)
        fields = [key if spec.is_required() else f"{key}?" for key, spec in tool.args.model_fields.items()]
        click.echo(f"{name} {' '.join(fields)}\n    {tool.description}")


def _described(picture: Picture, world: _World) -> dict[str, Any]:
    row = picture.model_dump(exclude_none=True)
    path = world.file(picture)
    return row | {"file": str(path)} if path else row


def _socket() -> Path:
    from fieldmark.client import SOCKET

    return Path(os.environ.get("FIELDMARK_SOCKET", SOCKET))


def _workspace() -> Path:
    return Path(os.environ.get("FIELDMARK_WORKSPACE", "/workspace"))


def _prompt() -> Prompt:
    """What the worker wrote for programs in its container."""
    from fieldmark.task import Prompt

    path = _workspace() / ".prompt.json"
    try:
        return Prompt.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"no episode is running here ({path}: {error})") from None


def _inside(prompt: Prompt, out: Path | None) -> _World:
    from fieldmark.client import GatewayClient
    from fieldmark.tools.inside import FilingContext

    folder = _writable(out or _workspace())
    return FilingContext(GatewayClient(), prompt.image, prompt.view, folder, prompt.ocr)


def _writable(folder: Path) -> Path:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write to {folder}: name a writable folder with --out")
    return folder


def _outside(
    image: Path | None,
    index: Path | None,
    registry: Path | None,
    web: str | None,
    site: Path | None,
    ocr: OcrEngine | None,
    out: Path | None,
) -> _World:
    fetch = _fetcher(web, site)
    if image is None and fetch is None:
        raise UsageError("name the picture: --image FILE")
    from fieldmark.tools.outside import HostContext

    try:
        folder = out and _writable(out)
        return HostContext(
            image or _blank(), _index(index), _registry(registry), folder, fetch, ocr or "tesseract"
        )
    except DataFault as error:
        raise UsageError(f"{image}: {error}") from None


def _fetcher(web: str | None, site: Path | None) -> Any:
    if web is None and site is None:
        return None
    from fieldmark.sandbox.gateway.web.alone import fetcher

    return fetcher(web == "live", site)


def _blank() -> Path:
    """A picture of one pixel, for a tool that only reads pages."""
    import tempfile

    from PIL import Image

    path = Path(tempfile.mkdtemp(prefix="fieldmark-tool-")) / "blank.png"
    Image.new("RGB", (1, 1)).save(path)
    return path


def _index(folder: Path | None) -> Any:
    if folder is None:
        return None
    from fieldmark.tools.image_index.local_index import LocalIndex

    return LocalIndex.open(folder)


def _registry(path: Path | None) -> Any:
    if path is None:
        return None
    from fieldmark.tools.aircraft.db import AircraftDb

    return AircraftDb.open(path)
