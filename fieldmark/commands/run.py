"""`fieldmark run`: an agent over a benchmark, in sandboxes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import click

from fieldmark.errors import InterruptedRun, UsageError


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


_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("run")
@click.argument("toml", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--benchmark", help="A bundled name, or a path to a tasks.jsonl.  [default: fieldmark-mini]")
@click.option(
    "--agent",
    help="react, closed_book, opencode, a recipe (codex, …) or a file of your own.  [default: react]",
)
@click.option("--model", help="builtin/scout, or a name that --base-url serves.  [default: builtin/scout]")
@click.option("--base-url", help="An OpenAI-compatible server.  [default: $OPENAI_BASE_URL]")
@click.option("--key-env", help="The variable that holds the key.  [default: OPENAI_API_KEY]")
@click.option("--sees/--blind", default=None, help="Whether the model takes pictures.  [default: sees]")
@click.option(
    "--force", multiple=True, callback=_values, metavar="KEY=VALUE",
    help="Set a parameter in every model request, such as temperature=0; repeatable.",
)  # fmt: skip
@click.option(
    "--space",
    type=click.Choice(["pixel", "sent", "norm1000", "fraction"]),
    help="What the model's boxes refer to: the original's pixels, the view's, 0-1000 or 0-1 of each side."
    "  [default: by the model's family, else pixel]",
)
@click.option("--context", type=int, help="Tokens of its window, as other agents are told.  [default: 65536]")
@click.option("--output", type=int, help="Tokens of a reply, as other agents are told.  [default: 8192]")
@click.option("--eyes", help="A vision model for inspect_image to ask.  [default: none]")
@click.option("--eyes-url", help="Its server.  [default: the model's]")
@click.option("--eyes-key-env", help="The variable that holds its key.  [default: the model's]")
@click.option("--judge", help="[default: exact]")
@click.option("--tools", callback=_names, help="none, all, a,b or all,-a.  [default: all]")
@click.option("--skills", callback=_names, help="The same, or a folder of your own.  [default: all]")
@click.option(
    "--skill-calls",
    type=click.Choice(["helpful", "strict"]),
    help="Whether a model that calls a skill as a tool is given its text.  [default: helpful]",
)
@click.option("--ocr", type=click.Choice(["tesseract", "rapidocr"]), help="Reads text.  [default: tesseract]")
@click.option("--tasks", callback=_names, help="Only these task ids, with commas.")
@click.option("--limit", type=int, help="Only the first N tasks.")
@click.option(
    "--parallel", type=int, help="Episodes at once.  [default: what cores and memory hold, at most 8]"
)
@click.option("--time-limit", type=float, help="Seconds an episode may take.  [default: 240]")
@click.option("--max-calls", type=int, help="Model calls an episode may make; 0: any number.  [default: 40]")
@click.option(
    "--max-tokens",
    type=int,
    help="Tokens an episode may use, as the model reports them; 0: any.  [default: 0]",
)
@click.option(
    "--max-same-requests", type=int, help="Times one model request may come in a row; 0: any.  [default: 5]"
)
@click.option("--max-turns", type=int, help="Turns of our own agents; 0: any number.  [default: 12]")
@click.option(
    "--image-side", type=int, help="Longest side in pixels of the view models get.  [default: 2048]"
)
@click.option("--max-megapixels", type=float, help="Refuse larger pictures.  [default: 120, at most 120]")
@click.option("--min-free-mb", type=int, help="Stop when the disk has less free than this.  [default: 500]")
@click.option("--web", type=click.Choice(["offline", "replay", "record", "live"]), help="[default: offline]")
@click.option("--web-archive", type=click.Path(path_type=Path), help="Folder of recorded pages.")
@click.option("--site", type=click.Path(path_type=Path), help="Folder with a folder of pages for each host.")
@click.option("--allow", callback=_names, help="Only these hosts, with commas.  [default: every public one]")
@click.option("--deny", callback=_names, help="Not these hosts, with commas.")
@click.option("--allow-local", callback=_names, help="host:port that are not public, with commas; for tests.")
@click.option(
    "--search", help="site, serpapi or serpapi:ENGINE.  [default: the site, else what was recorded]"
)
@click.option(
    "--reverse", type=click.Choice(["local", "serpapi"]), help="serpapi: Google Lens.  [default: local]"
)
@click.option("--allow-upload", is_flag=True, default=None, help="Task pictures may be sent to SerpApi.")
@click.option("--serpapi-key-env", help="The variable that holds the key.  [default: SERPAPI_API_KEY]")
@click.option("--index", type=_FOLDER, help="A picture index of your own.  [default: the benchmark's]")
@click.option("--registry", type=_FILE, help="An aircraft registry of your own.  [default: the benchmark's]")
@click.option("--seed", type=int, help="Recorded with the run.  [default: 0]")
@click.option("--name", help="The run's name.  [default: time, agent and model]")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/NAME]")
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with this run folder.")
def command(toml: Path | None, resume: Path | None, **flags: Any) -> int:
    """Run an agent over a benchmark, in Docker sandboxes, and write a run folder.

    Options may also stand in a TOML file; flags go over it.

    \b
    fieldmark run --benchmark fieldmark-mini --agent react --model builtin/scout --parallel 4
    fieldmark run --model qwen3-vl-8b --base-url http://localhost:8000/v1 --force temperature=0
    fieldmark run --resume runs/20261130-101500-react-scout
    """
    from fieldmark import launch
    from fieldmark.config import load_config

    if resume:
        _only_harmless(flags, toml)
        run = launch.resume_run(resume, flags, _say)
    else:
        run = launch.new_run(load_config(toml, flags), _say)
    return carry_out(run)


def carry_out(run: Any) -> int:
    """Run, print the table, say where the folder is. 1 when tasks were refused or broke through our fault."""
    from fieldmark import launch, runner
    from fieldmark.commands.report import show

    try:
        runner.carry_out(run)
    except InterruptedRun:
        with contextlib.suppress(UsageError, OSError):  # the folder may be gone
            launch.finish(run, "interrupted")
        raise
    launch.finish(run, "finished")
    show([run.folder])
    if run.plan.web and run.plan.web.archive:
        click.echo(run.plan.web.uses_line())
    click.echo(f"run folder: {run.folder.path}")
    broken = any(record.status == "sandbox_error" for record in run.folder.episodes())
    return 1 if broken or run.folder.config()["refused"] else 0


def _only_harmless(flags: dict[str, Any], toml: Path | None) -> None:
    from fieldmark.launch import MAY_CHANGE

    harmless = MAY_CHANGE - {"out", "name"} | {
        "base_url",
        "eyes_url",
    }  # the same server's, with its query: checked there
    fixed = [name for name, value in flags.items() if value is not None and name not in harmless]
    if fixed or toml:
        what = f"--{fixed[0].replace('_', '-')}" if fixed else str(toml)
        raise UsageError(
            f"{what} cannot change a run that has begun: leave it out, or start a new run without --resume"
        )


def _say(line: str) -> None:
    click.echo(line, err=True)
