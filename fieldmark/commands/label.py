"""`fieldmark label`: persons say why answers were wrong; how far they and the classifier agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldmark.evals.metrics.failures import Failures
    from fieldmark.labelling.session import Sitting


@click.command("label")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--sample", type=click.IntRange(min=1), default=100, help="How many.  [default: 100]")
@click.option(
    "--annotators", type=click.IntRange(min=1), default=2, help="How many persons label.  [default: 2]"
)
@click.option("--annotator", help="Who you are; asked for when it is not given.")
@click.option("--seed", type=int, default=0, help="Draws another sample.  [default: 0]")
@click.option("--scheme", type=click.Choice(["fieldmark", "pix2fact"]), default="fieldmark",
              show_default=True, help="By which definitions the broken link is said.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what was done and the agreement as JSON.")
def command(
    run: Path, sample: int, annotators: int, annotator: str | None, seed: int, scheme: str, as_json: bool
) -> None:
    """Say of a sample of the wrong answers why they were wrong, a few keys for each.

    Every annotator gets the same sample and sees no label of another or of the classifier. Quit at any time:
    the next call goes on there. When you are through, it prints how far you agree, by Cohen's kappa.

    \b
    fieldmark label runs/a --annotator ann
    fieldmark label runs/a --annotator bob
    fieldmark label runs/a --sample 200 --annotators 3 --annotator cem
    fieldmark label runs/a --scheme pix2fact --annotator ann    # stage and kind by Pix2Fact
    """
    from fieldmark.evals.failures.chain.scheme import SCHEME
    from fieldmark.evals.metrics.failures import failures
    from fieldmark.evals.metrics.outcomes import cells
    from fieldmark.keyboard import read_key, read_line
    from fieldmark.labelling.session import Person, label_run
    from fieldmark.rundir import RunDir

    folder = RunDir.open(run)
    name = (annotator if annotator is not None else click.prompt("Your name", err=True)).strip()
    person = Person(name, read_key, read_line, lambda line: click.echo(line, err=True))
    by = SCHEME if scheme == "pix2fact" else None
    done = label_run(folder, person, sample=sample, annotators=annotators, seed=seed, scheme=by)
    found = failures(folder, cells(folder))
    if as_json:
        validity = found.validity.model_dump(mode="json") if not done.left else None
        told = {"annotator": name, "sample": done.sample, "labelled": done.labelled, "left": done.left}
        click.echo(json.dumps({**told, "others": done.others, "validity": validity}, allow_nan=False))
    else:
        click.echo("\n".join(_lines(run, name, done, annotators, found)))


def _lines(run: Path, name: str, done: Sitting, annotators: int, found: Failures) -> list[str]:
    from fieldmark.evals.report.failure_tables import kappa

    lines = [f"{name}: {done.labelled} of {done.sample} labelled"]
    if done.left:
        return [*lines, f"{done.left} left: the same command goes on; agreement is told when you are through"]
    for what, pairs in (("class", found.validity.labels), ("broken link", found.validity.links)):
        lines += [
            f"{what}, {pair.first} and {pair.second}: κ {kappa(pair)}, same {pair.raw.count:.0f}/{pair.n}"
            for pair in pairs
        ]
    missing = annotators - len(done.others) - 1
    if missing:
        lines.append(f"{missing} more to label it: fieldmark label {run} --annotator NAME")
    return lines
