"""`fieldmark tool`: one tool, from a shell; the same inside a container and on the host."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fieldmark.errors import DataFault, UsageError

if TYPE_CHECKING:
    from fieldmark.task import OcrEngine, Prompt
    from fieldmark.tools.base import Tool
    from fieldmark.tools.inside import FilingContext
    from fieldmark.tools.offer import Offer
    from fieldmark.tools.outside import HostContext
    from fieldmark.trace import Picture

    World = FilingContext | HostContext

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

_HOST_OPTIONS = (
    click.option("--image", type=_FILE, help="The picture (host only; inside a container: the task's)."),
    click.option("--index", type=_FOLDER, help="A picture index for reverse_image_search (host only)."),
    click.option(
        "--registry", type=_FILE, help="A registry for aircraft_registry, CSV or SQLite (host only)."
    ),
    click.option("--web", type=click.Choice(["live"]), help="Let open_page reach the web (host only)."),
    click.option("--eyes", help="A vision model for inspect_image (host only)."),
    click.option("--eyes-url", help="Its OpenAI-compatible server (host only)."),
    click.option("--eyes-key-env", default="OPENAI_API_KEY", help="The variable that holds its key."),
    click.option(
        "--site", type=_FOLDER, help="Pages for open_page and web_search, a folder for each host (host only)."
    ),
    click.option("--search", help="For web_search: site, serpapi or serpapi:ENGINE (host only)."),
    click.option(
        "--reverse", type=click.Choice(["serpapi"]), help="Google Lens for reverse_image_search (host only)."
    ),
    click.option("--allow-upload", is_flag=True, help="The picture may be sent to SerpApi (host only)."),
    click.option(
        "--serpapi-key-env", default="SERPAPI_API_KEY", show_default=True, help="Holds the key (host only)."
    ),
    click.option("--ocr", type=click.Choice(["tesseract", "rapidocr"]), help="What reads text (host only)."),
    click.option(
        "--out",
        type=_FOLDER,
        help="Where pictures are written.  [default: a temporary folder; inside a container: the workspace]",
    ),
)


def host_options(command: _Decorated) -> _Decorated:
    """The options that say what tools work on, the same for every command that calls tools."""
    for option in reversed(_HOST_OPTIONS):
        command = option(command)
    return command


@click.command("tool")
@click.argument("name", required=False)
@click.option("--json", "arguments", metavar="JSON", default="{}", help="The arguments, one JSON object.")
@host_options
def command(name: str | None, arguments: str, **given: Any) -> None:
    """Call the tool NAME and print one JSON line {ok, text, data, pictures}; without NAME list the tools.
    NAME may also be a file of your own.

    Exit code 0 also when the tool could not do its job (ok is false); 2 for bad usage. Inside a container a
    NAME that is not offered is recorded like any call, and fails with error_kind not_found.

    \b
    fieldmark tool
    fieldmark tool ocr --json '{"mode": "registration"}' --image photo.jpg
    fieldmark tool ./my_tool.py --image photo.jpg
    fieldmark tool open_page --json '{"url": "https://example.org/"}' --web live
    fieldmark tool web_search --json '{"query": "737 MAX winglet"}' --search serpapi:bing
    """
    from fieldmark.tools.offer import Offer
    from fieldmark.tools.registry import all_tools

    if is_inside(given["image"]):
        prompt = prompt_here()
        offer, world = Offer.of(prompt), inside(prompt, given["out"])
    else:
        tools, looking = _one(name) if name else (all_tools(), True)
        name = name and tools[0].name
        offer, world = Offer({tool.name: tool for tool in tools}), outside(**given, looking=looking)
    if name is None:
        _list(offer)
        return
    from fieldmark.tools.calling import call_by_name

    context = world()
    result = call_by_name(name, arguments, offer, context, door="command")
    pictures = [_described(picture, context) for picture in result.pictures]
    row = {"ok": result.ok, "text": result.numbered(result.text), "data": result.data, "pictures": pictures}
    if not result.ok:
        row["error_kind"] = result.error_kind
    click.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))


def _one(name: str) -> tuple[list[Tool], bool]:
    """The tool of that name or of that file of the user's own, and whether it looks at the picture."""
    from fieldmark.tools import own
    from fieldmark.tools.boxes import looks
    from fieldmark.tools.registry import get_tool
    from fieldmark.user_file import is_file_name

    if is_file_name(name):
        tool = own.load(Path(name))
        return [tool], own.uses_context(tool)
    tool = get_tool(name)
    return [tool], looks(tool)


def _list(offer: Offer) -> None:
    for name, tool in offer.tools.items():
        fields = [key if spec.is_required() else f"{key}?" for key, spec in tool.args.model_fields.items()]
        click.echo(f"{name} {' '.join(fields)}\n    {tool.description}")


def _described(picture: Picture, context: World) -> dict[str, Any]:
    row = picture.model_dump(exclude_none=True)
    path = context.file(picture)
    return row | {"file": str(path)} if path else row


# --- inside a container ---------------------------------------------------------------------------


def is_inside(image: Path | None) -> bool:
    """Whether an episode's gateway is at hand and no picture of the caller's own was named."""
    from fieldmark.client import SOCKET

    return image is None and Path(os.environ.get("FIELDMARK_SOCKET", SOCKET)).exists()


def prompt_here() -> Prompt:
    """What the worker wrote for programs in its container. UsageError: no episode has begun."""
    from fieldmark.task import Prompt

    path = _workspace() / ".prompt.json"
    try:
        return Prompt.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"no episode is running here ({path}: {error})") from None


def inside(prompt: Prompt, out: Path | None) -> Callable[[], World]:
    """A Context for each call, which keeps its own pictures only."""
    from fieldmark.client import GatewayClient
    from fieldmark.tools.inside import FilingContext

    client, folder = GatewayClient(), _writable(out or _workspace())
    numbering = "remember" in prompt.tools
    return lambda: FilingContext(client, prompt.image, prompt.view, folder, prompt.ocr, numbering=numbering)


def _workspace() -> Path:
    return Path(os.environ.get("FIELDMARK_WORKSPACE", "/workspace"))


def _writable(folder: Path) -> Path:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write to {folder}: name a writable folder with --out")
    return folder


# --- on the host ----------------------------------------------------------------------------------


def outside(
    image: Path | None,
    index: Path | None,
    registry: Path | None,
    web: str | None,
    site: Path | None,
    ocr: OcrEngine | None,
    eyes: str | None,
    eyes_url: str | None,
    eyes_key_env: str,
    out: Path | None,
    *,
    looking: bool,
    **searching: Any,
) -> Callable[[], World]:
    """One Context, made when it is first asked for, from the options of the command line. `looking`: what
    is called works on a picture.
    """

    @cache
    def make() -> World:
        fetch = _fetcher(web, site)
        search, reverse = _searchers(site, **searching)
        if image is None and looking:
            raise UsageError("name the picture: --image FILE")
        from fieldmark.tools.outside import HostContext

        try:
            return HostContext(
                image or _blank(), _index(index), _registry(registry), out and _writable(out),
                fetch=fetch, search=search, reverse=reverse, ocr_engine=ocr or "tesseract",
                eyes=_eyes(eyes, eyes_url, eyes_key_env),
            )  # fmt: skip
        except DataFault as error:
            raise UsageError(f"{image}: {error}") from None

    return make


def _fetcher(web: str | None, site: Path | None) -> Any:
    if web is None and site is None:
        return None
    from fieldmark.sandbox.gateway.web.alone import fetcher

    return fetcher(web == "live", site)


def _searchers(
    site: Path | None, *, search: str | None, reverse: str | None, allow_upload: bool, serpapi_key_env: str
) -> tuple[Any, Any]:
    """What answers `web_search` and, in place of an index, `reverse_image_search`."""
    if reverse and not allow_upload:
        raise UsageError(
            "--reverse serpapi sends the picture to SerpApi and Google: say --allow-upload if it may be"
        )
    if search == "site" and site is None:
        raise UsageError("--search site needs pages: name --site DIR")
    if not (search or site or reverse):
        return None, None
    from fieldmark.sandbox.gateway.search.alone import reverser, searcher

    asked = search or ("site" if site else None)
    return asked and searcher(asked, site, serpapi_key_env), reverse and reverser(serpapi_key_env)


def _blank() -> Path:
    """A picture of one pixel, for a tool that looks at none."""
    import tempfile

    from PIL import Image

    path = Path(tempfile.mkdtemp(prefix="fieldmark-tool-")) / "blank.png"
    Image.new("RGB", (1, 1)).save(path)
    return path


def _eyes(name: str | None, url: str | None, key_env: str) -> Any:
    if name is None:
        if url:
            raise UsageError("--eyes-url is a server and names no model: add --eyes NAME")
        return None
    from fieldmark.model_config import ModelConfig
    from fieldmark.run_models import make_eyes
    from fieldmark.sandbox.gateway.eyes import alone

    upstream = make_eyes(ModelConfig(name=name, base_url=url, key_env=key_env))
    assert upstream is not None
    return alone(upstream)


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
