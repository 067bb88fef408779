"""The options of a run, which a TOML file may hold too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from fieldmark.commands.judge import judge_options
from fieldmark.protocol import ProtocolName


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    return [name.strip() for name in value.split(",") if name.strip()] if value is not None else None


def _values(ctx: click.Context, param: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Any] | None:
    """KEY=VALUE, the value as JSON where it is JSON, else as a text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not key.strip() or not value:
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE, such as temperature=0")
        try:
            values[key.strip()] = json.loads(value)
        except ValueError:
            values[key.strip()] = value
    return values or None


def pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """FIELD=KEY, both texts."""
    found = {}
    for pair in given:
        field, _, key = pair.partition("=")
        if not field.strip() or not key.strip():
            raise click.BadParameter(f"{pair!r} is not FIELD=KEY, such as question=query_text")
        found[field.strip()] = key.strip()
    return found or None


def _files(ctx: click.Context, param: click.Parameter, value: tuple[Path, ...]) -> list[Path] | None:
    return list(value) or None


_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_NUMBER = click.FloatRange(min=0, max=1e9)

_OF_AGENT_AND_MODEL = [
    click.option(
        "--benchmark",
        help="A bundled name, fika, pix2fact, fine-r1, amigo, or a path to a tasks.jsonl."
        "  [default: fieldmark-mini]",
    ),
    click.option(
        "--data",
        type=click.Path(path_type=Path),
        help="For fika, pix2fact: the zip, its folder or manifest; fine-r1, amigo: its folder. docs/fika.md,"
        " docs/pix2fact.md, docs/fine-r1.md, docs/amigo.md.",
    ),
    click.option(
        "--map",
        multiple=True,
        callback=pairs,
        metavar="FIELD=KEY",
        help="Which key of that manifest is which field, where it cannot be told; repeatable.",
    ),
    click.option(
        "--image-root", type=_FOLDER, help="For fine-r1: where image_path begins.  [default: --data]"
    ),
    click.option(
        "--world",
        type=click.Choice(["closed", "open"]),
        help="For fine-r1: whether the options are offered.  [default: closed]",
    ),
    click.option(
        "--options",
        type=click.Choice(["official", "shuffled"]),
        help="For fine-r1: their order, as released (gold first) or of the seed.  [default: official]",
    ),
    click.option(
        "--protocol", type=click.Choice(get_args(ProtocolName)), help="Fix what the benchmark's paper fixes."
    ),
    click.option(
        "--agent",
        help="closed_book, closed_book_search, react, forager, opencode, a recipe (codex, …) or a file."
        "  [default: react; amigo_player for AMIGO]",
    ),
    click.option(
        "--model",
        help="builtin/scout, a name that --base-url serves, or replay:RUN, a run folder."
        "  [default: builtin/scout]",
    ),
    click.option(
        "--strict/--no-strict",
        default=None,
        help="Stop when a request differs from the replayed one.  [default: count it as drift]",
    ),
    click.option(
        "--cache",
        type=click.Path(path_type=Path),
        help="Folder of model replies; the very same request is not asked again.  [default: none]",
    ),
    click.option("--base-url", help="An OpenAI-compatible server.  [default: $OPENAI_BASE_URL]"),
    click.option("--key-env", help="The variable that holds the key.  [default: OPENAI_API_KEY]"),
    click.option("--sees/--blind", default=None, help="Whether the model takes pictures.  [default: sees]"),
    click.option(
        "--probe/--no-probe",
        default=None,
        help="First one episode on a generated picture, to see that agent and model see.  [default: probe,"
        " unless --blind]",
    ),
    click.option("--allow-blind", is_flag=True, default=None, help="Go on when that probe finds them blind."),
    click.option(
        "--force",
        multiple=True,
        callback=_values,
        metavar="KEY=VALUE",
        help="Set a parameter in every model request, such as temperature=0; repeatable.",
    ),
    click.option(
        "--space",
        type=click.Choice(["pixel", "sent", "norm1000", "fraction"]),
        help="What the model's boxes refer to: the original's pixels, the view's, 0-1000 or 0-1 of each side."
        "  [default: by the model's family, else pixel]",
    ),
    click.option(
        "--context", type=int, help="Tokens of its window, as other agents are told.  [default: 65536]"
    ),
    click.option("--output", type=int, help="Tokens of a reply, as other agents are told.  [default: 8192]"),
    click.option("--eyes", help="A vision model for inspect_image to ask.  [default: none]"),
    click.option("--eyes-url", help="Its server.  [default: the model's]"),
    click.option("--eyes-key-env", help="The variable that holds its key.  [default: the model's]"),
]
_OF_ABILITIES_AND_LIMITS = [
    click.option("--tools", callback=_names, help="none, all, a,b or all,-a.  [default: all]"),
    click.option(
        "--tool",
        multiple=True,
        callback=_files,
        type=_FILE,
        help="A Python file of a tool of your own; repeatable.",
    ),
    click.option("--skills", callback=_names, help="The same, or a folder of your own.  [default: all]"),
    click.option(
        "--skill-calls",
        type=click.Choice(["helpful", "strict"]),
        help="Whether a model that calls a skill as a tool is given its text.  [default: helpful]",
    ),
    click.option(
        "--ocr", type=click.Choice(["tesseract", "rapidocr"]), help="Reads text.  [default: tesseract]"
    ),
    click.option("--tasks", callback=_names, help="Only these task ids, with commas."),
    click.option(
        "--where", metavar="LABELS", help='Only tasks so labelled: "mid=Aircraft and split=public".'
    ),
    click.option("--limit", type=int, help="Only the first N tasks; 0: all."),
    click.option("--epochs", type=int, help="Do every task so many times; n stays the tasks.  [default: 1]"),
    click.option(
        "--parallel", type=int, help="Episodes at once.  [default: what cores and memory hold, at most 8]"
    ),
    click.option(
        "--executor",
        type=click.Choice(["local", "ray"]),
        help="Where episodes play: here, or on the nodes of a Ray cluster; docs/scale.md.  [default: local]",
    ),
    click.option("--address", help="With --executor ray: auto, or HOST:6379 of the head."),
    click.option("--runtime", help="Of the engine, such as runsc.  [default: the engine's]"),
    click.option("--time-limit", type=float, help="Seconds an episode may take.  [default: 240]"),
    click.option(
        "--max-calls", type=int, help="Model calls an episode may make; 0: any number.  [default: 40]"
    ),
    click.option(
        "--max-tokens",
        type=int,
        help="Tokens an episode may use, as the model reports them; 0: any.  [default: 0]",
    ),
    click.option(
        "--max-cost-per-episode",
        type=_NUMBER,
        metavar="USD",
        help="What an episode may cost, as far as it is known; 0: any.  [default: 0]",
    ),
    click.option(
        "--max-same-requests",
        type=int,
        help="Times one model request may come in a row; 0: any.  [default: 5]",
    ),
    click.option("--max-turns", type=int, help="Turns of our own agents; 0: any number.  [default: 12]"),
    click.option(
        "--image",
        metavar="full|blank|N",
        help="Stand-in for the pictures: grey of the same size, or shrunk to N pixels a side."
        "  [default: full]",
    ),
    click.option(
        "--image-side", type=int, help="Longest side in pixels of the view models get.  [default: 2048]"
    ),
    click.option(
        "--image-bytes",
        type=int,
        help="Most bytes of that view, for the model's server.  [default: 10485760]",
    ),
    click.option(
        "--image-megapixels", type=float, help="Most megapixels of that view, the same.  [default: 36]"
    ),
    click.option("--max-megapixels", type=float, help="Refuse larger pictures.  [default: 120, at most 120]"),
    click.option(
        "--max-cost", type=_NUMBER, metavar="USD", help="Stop the run, between episodes, when spent."
    ),
    click.option(
        "--max-hours", type=_NUMBER, help="Stop the run, between episodes, after so many hours in all."
    ),
    click.option("--prices", type=_FILE, help="What models cost, TOML.  [default: fieldmark/prices.toml]"),
    click.option(
        "--min-free-mb", type=int, help="Stop when the disk has less free than this.  [default: 500]"
    ),
    click.option(
        "--web", type=click.Choice(["offline", "replay", "record", "live"]), help="[default: offline]"
    ),
    click.option("--web-archive", type=click.Path(path_type=Path), help="Folder of recorded pages."),
    click.option(
        "--site", type=click.Path(path_type=Path), help="Folder with a folder of pages for each host."
    ),
    click.option(
        "--allow", callback=_names, help="Only these hosts, with commas.  [default: every public one]"
    ),
    click.option("--deny", callback=_names, help="Not these hosts, with commas."),
    click.option(
        "--allow-local", callback=_names, help="host:port that are not public, with commas; for tests."
    ),
    click.option(
        "--search", help="site, serpapi or serpapi:ENGINE.  [default: the site, else what was recorded]"
    ),
    click.option(
        "--reverse", type=click.Choice(["local", "serpapi"]), help="serpapi: Google Lens.  [default: local]"
    ),
    click.option("--allow-upload", is_flag=True, default=None, help="Task pictures may be sent to SerpApi."),
    click.option("--serpapi-key-env", help="The variable that holds the key.  [default: SERPAPI_API_KEY]"),
    click.option("--index", type=_FOLDER, help="A picture index of your own.  [default: the benchmark's]"),
    click.option(
        "--registry", type=_FILE, help="An aircraft registry of your own.  [default: the benchmark's]"
    ),
    click.option(
        "--facets", type=_FILE, help="Further labels of the tasks: a TSV of id, name, value (docs/typing.md)."
    ),
    click.option(
        "--preflight/--no-preflight",
        default=None,
        help="Try the model with a few small requests first.  [default: preflight]",
    ),
    click.option("--actions", type=_FILE, help="What tools that fieldmark does not know do; TOML."),
    click.option(
        "--memory",
        metavar="off|inherit|frozen:RUN",
        help="Whether episodes read notes of earlier ones, or of the run RUN; docs/memory.md."
        "  [default: off]",
    ),
    click.option("--memory-before", metavar="TASK", help="With frozen:RUN: the notes this task had there."),
    click.option(
        "--memory-form",
        type=click.Choice(["store", "native"]),
        help="Notes, or the agent's own files (agents of others).  [default: store]",
    ),
    click.option("--waves", type=int, help="Episodes at once that inherit the same memory.  [default: 1]"),
    click.option(
        "--memory-url", help="A Postgres database for the notes.  [default: SQLite in the run folder]"
    ),
    click.option(
        "--oracle", type=click.Choice(["labels", "vlm"]), help="AMIGO: who answers.  [default: labels]"
    ),
    click.option(
        "--detector",
        type=click.Choice(["lexicon", "llm"]),
        help="AMIGO: who says which questions break a rule.  [default: lexicon]",
    ),
    click.option(
        "--noise",
        type=click.Choice(["none", "flip", "unsure"]),
        help="AMIGO: one false answer a game, drawn by --seed.  [default: none]",
    ),
    click.option("--batch", type=int, help="AMIGO: pictures an upload.  [default: 5]"),
    click.option("--referee-model", help="The model of --oracle vlm and --detector llm."),
    click.option("--referee-url", help="Its server.  [default: $OPENAI_BASE_URL]"),
    click.option("--referee-key-env", help="The variable of its key.  [default: OPENAI_API_KEY]"),
    click.option("--referee-temperature", help="0 to 2, or none to send none.  [default: 0]"),
    click.option("--referee-seed", help="A whole number, or none to send none.  [default: 0]"),
    click.option("--seed", type=int, help="Of the orders; recorded with the run.  [default: 0]"),
    click.option(
        "--order", type=int, help="Do the tasks in the N-th order of the seed.  [default: 0, the benchmark's]"
    ),
    click.option("--orders", type=int, help="A study: do each arm in so many orders of the seed."),
    click.option("--preset", help="A study that is known: table4.  [default: none]"),
    click.option("--name", help="The run's name.  [default: time, agent and model]"),
    click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/NAME]"),
    click.option(
        "--with-twin",
        is_flag=True,
        default=None,
        help="Then run the same model closed book (NAME-closed-book),"
        " and tell what the tools helped and hurt.",
    ),
]


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Everything that a run can be asked for, in the order of its help."""
    options: list[Callable[..., Any]] = [*_OF_AGENT_AND_MODEL, judge_options, *_OF_ABILITIES_AND_LIMITS]
    for option in reversed(options):
        function = option(function)
    return function
