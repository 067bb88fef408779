"""`fieldmark run`: an agent over a benchmark, in sandboxes."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from fieldmark.errors import InterruptedRun, UsageError
from fieldmark.run_options import run_options


@click.command("run")
@click.argument("toml", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@run_options
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with this run folder.")
@click.option(
    "--trust", is_flag=True, help="With --resume: use the servers, keys and Python files that it names."
)
@click.option("--dry-run", is_flag=True, help="Say what the run would take, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: print it as JSON.")
def command(
    toml: Path | None, resume: Path | None, trust: bool, dry_run: bool, as_json: bool, **flags: Any
) -> int:
    """Run an agent over a benchmark, in Docker sandboxes, and write a run folder.

    Options may also stand in a TOML file; flags go over it.

    \b
    fieldmark run --benchmark fieldmark-mini --agent react --model builtin/scout --parallel 4
    fieldmark run --model qwen3-vl-8b --base-url http://localhost:8000/v1 --force temperature=0
    fieldmark run --model replay:runs/A --agent react     # the recorded replies, offline
    fieldmark run --agent react --with-twin     # and the same model closed book: helped, hurt
    fieldmark run --benchmark fika --data fika-bench-testset.zip --protocol fika
    fieldmark run --agent ./my_agent.py --tool ./my_tool.py --benchmark ./tasks.jsonl
    fieldmark run --judge llm --judge-model qwen3-32b --judge-url http://localhost:8001/v1
    fieldmark run --model qwen3-vl-8b --executor ray --address auto     # on many machines; docs/scale.md
    fieldmark run --resume runs/20261130-101500-react-scout
    fieldmark run run.toml --dry-run
    fieldmark run study.toml     # with a [matrix]: every arm of it, then one comparison; docs/studies.md
    """
    from fieldmark import launch, twin
    from fieldmark.config import load_config

    if as_json and not dry_run:
        raise UsageError("--json is for --dry-run: `fieldmark report RUN --json` has the figures of a run")
    if trust and not resume:
        raise UsageError("--trust is for --resume: what you name yourself is trusted")
    if not resume and (study := _study(toml, flags)):
        return _carry_out_study(study, dry_run, as_json)
    for name in ("orders", "preset"):
        if flags.pop(name) is not None:
            raise UsageError(f"--{name} cannot change a run that has begun: leave it or --resume out")
    if dry_run:
        return _estimate(toml, resume, flags, as_json)
    if resume:
        _only_harmless(flags, toml)
        run = launch.resume_run(resume, flags, _say, trusted=trust)
        if run.plan.config.with_twin:
            twin.check(run.plan.config, resume)
    else:
        config = load_config(toml, flags)
        if config.with_twin:
            twin.check(config, launch.place_of(config) if config.out or config.name else None)
        run = launch.new_run(config, _say)
    return max(carry_out(run), carry_out_twin(run) if run.plan.config.with_twin else 0)


def _study(toml: Path | None, flags: dict[str, Any]) -> Any:
    """The study that is asked for; None when it is one run."""
    from fieldmark.study.asking import is_study, read_study
    from fieldmark.toml_file import read_toml

    return read_study(toml, flags) if is_study(read_toml(toml) if toml else {}, flags) else None


def _carry_out_study(study: Any, dry_run: bool, as_json: bool) -> int:
    """Run what is missing of it, print one report. 1 when tasks were refused or broke through our fault."""
    from fieldmark.commands.report import show_study
    from fieldmark.study.carrying_out import carry_out
    from fieldmark.study.estimate import estimate_study, lines

    if dry_run:
        told = estimate_study(study)
        click.echo(told.model_dump_json(indent=2) if as_json else "\n".join(lines(told)))
        return 0
    folder = carry_out(study, shlex.join(["fieldmark", *sys.argv[1:]]), _say)
    show_study(folder)
    click.echo(f"study folder: {folder.path}")
    return max(_code(run) for _, run in folder.begun_runs())


def _estimate(toml: Path | None, resume: Path | None, flags: dict[str, Any], as_json: bool) -> int:
    from fieldmark.config import load_config
    from fieldmark.estimate import estimate, lines

    if resume:
        raise UsageError("--dry-run is for a new run: leave --resume out")
    config = load_config(toml, flags)
    told, twin = estimate(config), None
    if config.with_twin:
        from fieldmark.twin import twin_config

        twin = estimate(twin_config(config, config.out))
    if as_json:
        row = told.model_dump(mode="json") | ({"twin": twin.model_dump(mode="json")} if twin else {})
        click.echo(json.dumps(row, indent=2))
    else:
        more = ["and its closed-book twin:", *lines(twin)] if twin else []
        click.echo("\n".join([*lines(told), *more]))
    return 0


def carry_out(run: Any) -> int:
    """Run, print the table, say where the folder is. 1 when tasks were refused or broke through our fault."""
    from fieldmark import launch

    launch.play(run)
    from fieldmark.commands.report import show  # the tables: no container waits for their import

    show([run.folder])
    if run.plan.web and run.plan.web.archive:
        click.echo(run.plan.web.uses_line())
    click.echo(f"run folder: {run.folder.path}")
    return _code(run.folder)


def _code(folder: Any) -> int:
    broken = any(record.status == "sandbox_error" for record in folder.episodes())
    return 1 if broken or folder.config()["refused"] else 0


def carry_out_twin(run: Any) -> int:
    """Run the closed-book twin of a run that is over, or what is left of it, and compare the two."""
    from fieldmark import twin
    from fieldmark.evals.comparison.comparison import comparison
    from fieldmark.evals.report.comparison_tables import comparison_tables, twin_line
    from fieldmark.evals.report.terminal import print_tables

    folder, left = twin.begin(run, _say)
    try:
        code = carry_out(left) if left else 0
    except InterruptedRun as stopped:  # going on with the run goes on with its twin, and compares them
        hint = str(stopped).replace(f"--resume {folder.path}", f"--resume {run.folder.path}")
        raise InterruptedRun(hint) from None
    made = comparison([folder, run.folder])
    print_tables(comparison_tables(made))
    if told := made.versus[0].twin:
        click.echo(twin_line(told))
    click.echo(f"twin's folder: {folder.path}")
    return code


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
    """A line may hold a file name of a dataset."""
    from fieldmark.showing.visible import visible

    click.echo(visible(line), err=True)
