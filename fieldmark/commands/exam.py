"""`fieldmark exam`: a person answers drawn tasks in the browser and becomes a run."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.run_options import pairs

if TYPE_CHECKING:
    from fieldmark.exam.sitting import Sitting
    from fieldmark.rundir import RunDir

PORT = 7789
TICK = 1.0
"""Seconds between two looks at the clock."""


@click.command("exam")
@click.option("--person", help="Who is examined; stands in the run as its model, so initials will do.")
@click.option("--benchmark", help="As in `fieldmark run`.  [default: fieldmark-mini]")
@click.option("--data", type=click.Path(path_type=Path), help="As in run.")
@click.option("--map", "map_", multiple=True, callback=pairs, metavar="FIELD=KEY", help="As in run.")
@click.option("--facets", type=click.Path(path_type=Path), help="As in run.")
@click.option("--where", help="Draw from the tasks with these labels, as in run.")
@click.option("--tasks-per-exam", "size", type=click.IntRange(min=1), default=50, show_default=True,
              help="Tasks of a paper.")  # fmt: skip
@click.option("--paper", type=click.IntRange(min=1), default=1, show_default=True,
              help="Which paper; no two share a task.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@click.option("--stratify", metavar="LABEL", help="Each value of this label in its share.  [default: none]")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True, max=1e9),
              help="Seconds for each question.  [default: 240]")  # fmt: skip
@click.option("--name", help="The run's name.  [default: that of the folder]")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/TIME-exam-…]")
@click.option("--resume", type=click.Path(path_type=Path), metavar="RUN", help="Go on with this exam.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free.")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Where to listen; beyond this machine only with a token, which is printed.")  # fmt: skip
def command(resume: Path | None, port: int, host: str, **asked: Any) -> None:
    """Examine a person: drawn tasks, one at a time, answered on a local page.

    Each answer is an episode of the run folder, by the agent "person"; judge, report, compare and view take
    it like any other. Ctrl-C pauses it, and --resume goes on, also after a kill. Persons with the same
    benchmark, seed and paper have the same tasks; report and compare of several exams print the human
    baseline.

    \b
    fieldmark exam --benchmark my/ --tasks-per-exam 50 --seed 1 --person ann --out runs/exam-1-ann
    fieldmark exam --benchmark my/ --seed 1 --paper 2 --stratify top --person cem
    fieldmark exam --resume runs/exam-1-ann
    fieldmark judge runs/exam-1-ann && fieldmark compare runs/exam-1-ann runs/exam-1-bob runs/react
    """
    from fieldmark.evals.inspector.security import door_of
    from fieldmark.evals.inspector.serving import address, listen, serve
    from fieldmark.exam.app import make_app
    from fieldmark.exam.sitting import Sitting

    listening = listen(host, port)
    folder = _open(resume, asked)
    sitting = Sitting(folder)
    door = door_of(host)
    app = make_app(sitting, folder.blob_store(), door)
    click.echo(f"open {address(host, listening, door.token)}   (Ctrl-C pauses it)")
    over = threading.Event()
    clock = threading.Thread(target=_keep_time, args=(sitting, over), daemon=True)
    clock.start()
    try:
        serve(app, listening)
    finally:
        over.set()
        clock.join()
    click.echo("\n".join(_told(folder, sitting)))


def _open(resume: Path | None, asked: dict[str, Any]) -> RunDir:
    """The folder, held: that of an exam to go on with, or a new one."""
    from fieldmark.config import load_config
    from fieldmark.errors import UsageError
    from fieldmark.exam.starting import ExamAsked, new_exam, open_exam

    if resume:
        if asked["person"] or asked["out"]:
            raise UsageError("--resume goes on as the exam began: leave --person and --out out")
        folder = open_exam(resume)
        for line in folder.repair():
            click.echo(line, err=True)
        return folder
    if asked["person"] is None:
        raise UsageError("who is examined? name the person with --person, or an exam with --resume")
    flags = {
        key: asked[key]
        for key in ("benchmark", "data", "where", "facets", "seed", "time_limit", "name", "out")
    }
    config = load_config(None, {**flags, "map": asked["map_"]})
    exam = ExamAsked(asked["person"].strip(), asked["size"], asked["paper"], asked["stratify"])
    return new_exam(config, exam, lambda line: click.echo(line, err=True))


def _keep_time(sitting: Sitting, over: threading.Event) -> None:
    """So that a question ends in time although no page asks."""
    while not over.wait(TICK):
        try:
            sitting.tick()
        except OSError as error:  # told again at the next tick, and on the page
            click.echo(f"the exam cannot be written: {error}", err=True)


def _told(folder: RunDir, sitting: Sitting) -> list[str]:
    sitting.tick()
    done = f"{sitting.person}: {len(sitting.done)} of {sitting.total} done"
    if sitting.finished:
        return [done, f"judge it: fieldmark judge {folder.path}"]
    return [done, f"go on: fieldmark exam --resume {folder.path}"]
