"""`fieldmark data`: what is in a benchmark, before anything is spent on it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.commands.classify import classifier_options
from fieldmark.counting import counted
from fieldmark.run_options import pairs

if TYPE_CHECKING:
    from fieldmark.evals.benchmarks.checking import Checked


SHOWN = 50
"""Pictures that cannot be used, named one by one."""


@click.group("data")
def command() -> None:
    """Look at the data of a benchmark before a run, or sort its questions by kind.

    \b
    fieldmark data check --benchmark fika --data fika-bench-testset.zip
    fieldmark data type --benchmark my/tasks.jsonl --model qwen3-32b --base-url … --out types.tsv
    """


@command.command("check")
@click.option("--benchmark", help="As in `fieldmark run`.  [default: fika with --data, else fieldmark-mini]")
@click.option("--data", type=click.Path(path_type=Path), help="The zip, its folder or manifest.")
@click.option("--map", "said", multiple=True, callback=pairs, metavar="FIELD=KEY", help="As in run.")
@click.option("--image-root", type=click.Path(path_type=Path), help="As in run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(
    benchmark: str | None,
    data: Path | None,
    said: dict[str, str] | None,
    image_root: Path | None,
    as_json: bool,
) -> int:
    """Count tasks by split, category and language; open every picture; find doubles. No gold is printed.

    Exit code 1 when a picture is missing or cannot be used, or two tasks have the same picture and question.

    \b
    fieldmark data check --data fika-bench-testset.zip
    fieldmark data check --benchmark fika --data my.jsonl --map question=ask --json
    fieldmark data check --benchmark pix2fact --data Pix2Fact_1k.csv
    fieldmark data check --benchmark my/tasks.jsonl
    fieldmark data check --benchmark fine-r1 --data eval/data --image-root /data
    """
    from fieldmark.evals.benchmarks.checking import check as check_benchmark
    from fieldmark.evals.benchmarks.loading import load_benchmark

    name = benchmark or ("fika" if data else "fieldmark-mini")
    checked = check_benchmark(
        load_benchmark(name, data, said, {"image_root": image_root} if image_root else {})
    )
    if as_json:
        click.echo(json.dumps({**asdict(checked), "sound": checked.sound}, ensure_ascii=False))
    else:
        _print(checked)
    return 0 if checked.sound else 1


@command.command("type")
@click.option("--benchmark", help="As in `fieldmark run`.  [default: fieldmark-mini]")
@click.option("--data", type=click.Path(path_type=Path), help="As in run.")
@click.option("--map", "said", multiple=True, callback=pairs, metavar="FIELD=KEY", help="As in run.")
@click.option("--where", help="Only tasks with these labels, as in run.")
@click.option("--limit", type=click.IntRange(min=0), help="The first so many.  [default: all]")
@classifier_options
@click.option("--with-answer", is_flag=True, help="Show the model the reference answer too.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="TSV",
              help="The file of facets; what it has already is kept.")  # fmt: skip
@click.option("--anew", is_flag=True, help="Type all of it, also what the file has.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def type_(
    benchmark: str | None, data: Path | None, said: dict[str, str] | None, where: str | None,
    limit: int | None, with_answer: bool, out: Path, anew: bool, as_json: bool, **flags: Any,
) -> int:  # fmt: skip
    """Have a model say of each question which kind it is, and write a TSV of id, name, value for --facets.

    Three facets, as Pix2Fact has them: perception type, knowledge domain, logic type. Where the benchmark has
    these already, the agreement with them is printed. Exit code 1 while a question has no type.

    \b
    fieldmark data type --benchmark my/tasks.jsonl --model qwen3-32b --base-url http://localhost:8000/v1 \\
        --out types.tsv
    fieldmark run --benchmark my/tasks.jsonl --facets types.tsv --where "logic type=Direct Lookup"
    """
    from fieldmark.config import load_config
    from fieldmark.errors import UsageError
    from fieldmark.evals.benchmarks.loading import load_benchmark
    from fieldmark.evals.typing.agreement import with_given
    from fieldmark.evals.typing.typer import make
    from fieldmark.judging.classifier import checked
    from fieldmark.task_selection import select_tasks
    from fieldmark.typing_questions import type_questions

    given = {key: value for key, value in flags.items() if value is not None}
    if "name" not in given:
        raise UsageError("--model names the model that types the questions")
    asked = {"benchmark": benchmark, "data": data, "map": said, "where": where, "limit": limit}
    config = load_config(None, asked)
    loaded = load_benchmark(config.benchmark, config.data, config.map)
    tasks = select_tasks(loaded.tasks, loaded.name, config)
    typer = make(checked(given), with_answer=with_answer)
    found = type_questions(tasks, typer, out, lambda line: click.echo(line, err=True), anew=anew)
    agreed = with_given(tasks, found)
    typed = sum(task.id in found for task in tasks)
    if as_json:
        told = {name: each.model_dump(mode="json") for name, each in agreed.items()}
        counts = {"tasks": len(tasks), "typed": typed, "typer": typer.name, "out": str(out)}
        click.echo(json.dumps({**counts, "agreement": told}, ensure_ascii=False))
    else:
        from fieldmark.evals.report.terminal import print_tables
        from fieldmark.evals.report.typing_tables import typing_tables

        print_tables(typing_tables(tasks, found, agreed))
        click.echo(f"{typed} of {len(tasks)} typed by {typer.name}: {out}")
    return 0 if typed == len(tasks) else 1


def _print_published(data: dict[str, Any]) -> None:
    """The records of each file beside those of the released one, where that is known."""
    counts = data.get("counts", {})
    for name, (here, published) in counts.items():
        click.echo(f"{here:6} of {published:6,} published  {name}")
    if counts:
        here, published = (sum(column) for column in zip(*counts.values(), strict=True))
        click.echo(f"{here:6} of {published:6,} published  in all")
        click.echo(
            f"the reference is the first option in {data['gold_is_first']} records, part of another one in "
            f"{data['pass_by_accident']}"
        )


def _tell(line: str) -> None:
    """Ids and file names are the dataset's."""
    from fieldmark.showing.visible import visible

    click.echo(visible(line))


def _print(checked: Checked) -> None:
    _tell(f"{checked.name} {checked.version}: {counted(checked.tasks, 'task')}")
    if checked.data:
        mapping = ", ".join(f"{field}={key}" for field, key in checked.data["mapping"].items())
        _tell(f"data: {checked.data['name']} sha256 {checked.data['sha256']}")
        _tell(f".sha256 file: {checked.data['sha256_file']}; pictures: {checked.data['pictures']}/")
        _tell(f"read as: {mapping}; unused keys: {', '.join(checked.data['unused_keys']) or 'none'}")
    _print_published(checked.data)
    for row in checked.counts:
        _tell(f"{row.tasks:6}  {row.split} · {row.top} · {row.language}")
    extent = checked.extent
    _tell(
        f"{extent.top} top and {extent.mid} mid categories, {extent.targets} targets, {extent.aliases}"
        f" aliases; {extent.evidence_links} evidence links on {extent.evidence_domains} domains, "
        f"{counted(extent.without_evidence, 'task')} without one"
    )
    if checked.longer_sides:
        least, middle, most = checked.longer_sides
        _tell(f"longer side of the pictures: {least} to {most} px, median {middle:g}")
    for ids in checked.same_picture:
        _tell(f"the same picture: {', '.join(ids)}")
    for line in checked.warnings:
        _tell(f"warning: {line}")
    for task_id, why in list(checked.unusable.items())[:SHOWN]:
        _tell(f"WRONG  {task_id}: {why}")
    if len(checked.unusable) > SHOWN:
        _tell(f"WRONG  {len(checked.unusable) - SHOWN} more pictures; --json names them all")
    for ids in checked.doubles:
        _tell(f"WRONG  the same picture and question: {', '.join(ids)}")
    _tell("sound" if checked.sound else f"{len(checked.unusable) + len(checked.doubles)} wrong")
