"""`fieldmark demo`: the main job on the embedded default, in one command."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("demo")
@click.option("--parallel", type=int, default=2, show_default=True, help="Episodes at once.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/demo-TIME]")
def command(parallel: int, out: Path | None) -> int:
    """Run the react agent with the built-in scout model over fieldmark-mini, in Docker sandboxes.

    No key and no network are needed. fieldmark-mini is a smoke benchmark, and scout a rule-based baseline
    without a vision model: the figures show that everything works, not how good anything is.

    \b
    fieldmark demo
    """
    import datetime

    from fieldmark import launch
    from fieldmark.commands.run import carry_out
    from fieldmark.config import RunConfig

    name = f"demo-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    run = launch.new_run(
        RunConfig(parallel=parallel, name=name, out=out), lambda line: click.echo(line, err=True)
    )
    code = carry_out(run)
    click.echo("why was an answer wrong? In two minutes: docs/inspect-a-failure.md")
    return code
