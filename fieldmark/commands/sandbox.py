"""`fieldmark sandbox`: the image that episodes run in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldmark.sandbox.build_context import Variant

_WITH = click.option(
    "--with", "extra", type=click.Choice(["rapidocr"]), help="The image that has RapidOCR, too."
)
_AGENT = click.option(
    "--agent", help="The image that has this agent's own programs: opencode, codex, ./my-agent.toml, …."
)


@click.group("sandbox")
def command() -> None:
    """Build, check, clean, save or load the sandbox image.

    \b
    fieldmark sandbox build
    fieldmark sandbox check
    """


@command.command("build")
@_WITH
@_AGENT
def build(extra: str | None, agent: str | None) -> None:
    """Build the image; nothing is done when it is there and fresh.

    \b
    fieldmark sandbox build
    fieldmark sandbox build --with rapidocr
    fieldmark sandbox build --agent opencode
    fieldmark sandbox build --agent ./my-agent.toml
    """
    from fieldmark.sandbox import engine, image

    client, variant = engine.connect(), _variant(extra, agent)
    if image.state(client, variant) != "ready":
        image.build(client, _say, variant)
        click.echo(f"built {image.tag(variant)}", err=True)


@command.command("check")
@_WITH
@_AGENT
@click.option("--runtime", help="Of the engine, such as runsc.  [default: the engine's]")
def check(extra: str | None, agent: str | None, runtime: str | None) -> int:
    """Prove the sandbox from inside a container and search the image for gold: a line PASS/FAIL each.

    \b
    fieldmark sandbox check
    fieldmark sandbox check --runtime runsc
    """
    from fieldmark.sandbox import engine, image
    from fieldmark.sandbox.check import run_checks

    client = engine.connect()
    engine.check_runtime(client, runtime)
    built = image.require(client, _variant(extra, agent))
    failed = 0
    for name, problem in run_checks(client, built, _gold_phrases(), runtime):
        click.echo(f"{'FAIL' if problem else 'PASS'}  {name}{f': {problem}' if problem else ''}")
        failed += bool(problem)
    return 1 if failed else 0


@command.command("clean")
@click.option("--image", "images", is_flag=True, help="Remove the sandbox images too.")
def clean(images: bool) -> None:
    """Remove containers and sockets whose run is dead; nothing that is not ours.

    \b
    fieldmark sandbox clean --image
    """
    from fieldmark.sandbox import engine, image, reaper

    client = engine.connect()
    for line in reaper.reap(client):
        click.echo(line)
    if images:
        image.remove_all(client, click.echo)


@command.command("save")
@click.argument("path", type=click.Path(path_type=Path))
@_WITH
@_AGENT
def save(path: Path, extra: str | None, agent: str | None) -> None:
    """Write the built image to a tar file, to be loaded on a machine that cannot build it.

    \b
    fieldmark sandbox save fieldmark-sandbox.tar
    """
    from fieldmark.sandbox import engine, image

    image.save(engine.connect(), path, _variant(extra, agent))
    click.echo(f"saved to {path}")


@command.command("load")
@click.argument("path", type=click.Path(path_type=Path))
@_AGENT
def load(path: Path, agent: str | None) -> None:
    """Load an image that `sandbox save` wrote.

    \b
    fieldmark sandbox load fieldmark-sandbox.tar
    """
    from fieldmark.sandbox import engine, image

    click.echo(f"loaded {image.load(engine.connect(), path, _variants(agent))}")


def _variant(extra: str | None, agent: str | None) -> Variant:
    from fieldmark.agents.registry import get_agent
    from fieldmark.sandbox.build_context import Variant

    return Variant(extra, get_agent(agent).needs.kit if agent else None)


def _variants(own: str | None) -> list[Variant]:
    """All that a saved image can be; `own` is an agent of the user's."""
    from fieldmark.agents.registry import agent_names
    from fieldmark.sandbox.build_context import EXTRAS

    return [_variant(extra, agent) for extra in (None, *EXTRAS) for agent in (None, own, *agent_names())]


def _gold_phrases() -> set[str]:
    """Every gold answer and alias of every bundled benchmark; of galleries, where a place in one says nothing
    by itself, the names of episodes and pictures, which their lists, labels and files would bring.
    """
    from fieldmark.evals.benchmarks.loading import GALLERIES, bundled_names, load_benchmark

    tasks = [task for name in bundled_names() for task in load_benchmark(name).tasks]
    hidden = load_benchmark(GALLERIES).tasks
    names = {f"{path.parent.name}/{path.name}" for task in hidden for path in task.gallery}
    said = {phrase for task in tasks for phrase in (task.gold.answer, *task.gold.aliases)}
    return said | names | {task.id for task in hidden}


def _say(line: str) -> None:
    click.echo(line, err=True)
