"""Candidates asked closed book: ordinary runs, in the folder runs/ of the curation, judged as any run is.

A run that was stopped is gone on with; what a model has answered is not asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fieldmark import launch
from fieldmark.config import RunConfig
from fieldmark.errors import InterruptedRun
from fieldmark.evals.curation import answers
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.settings import model_key
from fieldmark.evals.judges import get_judge
from fieldmark.launch import Say
from fieldmark.model_config import ModelConfig
from fieldmark.run_reader import RunReader
from fieldmark.runner import Run

CACHE, RUNS = "cache", "runs"


@dataclass(frozen=True)
class Question:
    """A picture and what is asked of it. `picture` is relative to the project's folder."""

    candidate: str
    picture: str
    question: str
    answer: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class How:
    """`parallel`: episodes at once (None: what the machine holds). `probe`: whether the model sees is tried
    first. `cached`: replies that were given to the very same request are taken again.
    """

    parallel: int | None = None
    probe: bool = True
    cached: bool = True


def ask(
    project: Project, step: str, model: ModelConfig, questions: Iterable[Question], how: How, say: Say
) -> dict[str, str]:
    """Candidate → label, of all that the model was ever asked at this step. InterruptedRun: stopped early;
    what it answered until then is kept.
    """
    key, judge = model_key(model), get_judge(project.settings.screen.judge).name
    place = project.folder / RUNS
    prefix = f"{step}-{re.sub(r'[^A-Za-z0-9]+', '-', key).strip('-')}"
    for run in _unfinished(place, prefix):
        _play(project, launch.resume_run(run, {}, say), step, key, judge)
    known = answers.verdicts(project, step, key, judge)
    left = [each for each in questions if each.candidate not in known]
    if left:
        number = sum(1 for _ in place.glob(f"{prefix}-[0-9]*")) + 1
        name = f"{prefix}-{number}"
        tasks = _write_tasks(project.folder / f"asked-{name}.jsonl", left)
        config = RunConfig(
            benchmark=str(tasks), agent="closed_book", model=model, judge=project.settings.screen.judge,
            cache=project.folder / CACHE if how.cached else None, out=place / name,
            parallel=how.parallel, probe=how.probe,
        )  # fmt: skip
        say(f"{step}: {len(left)} pictures for {key}")
        _play(project, launch.new_run(config, say), step, key, judge)
    return answers.verdicts(project, step, key, judge)


def _unfinished(place: Path, prefix: str) -> Iterator[Path]:
    for path in sorted(place.glob(f"{prefix}-[0-9]*")):
        run = RunReader(path)
        if run.run_json.exists() and run.config().get("state") != "finished":
            yield path


def _play(project: Project, run: Run, step: str, key: str, judge: str) -> None:
    try:
        launch.play(run)
    except InterruptedRun:
        answers.add(project, step, key, judge, run.folder.path.name, _answered(run.folder))
        raise InterruptedRun(f"stopped: the same command goes on with {step}") from None
    answers.add(project, step, key, judge, run.folder.path.name, _answered(run.folder))


def _answered(run: RunReader) -> Iterator[answers.Answered]:
    """An answer without a verdict is left out, and so is what was no fault of the model: asked again."""
    verdicts = run.verdicts()
    for record in run.episodes():
        verdict = verdicts.get(record.key)
        if record.status == "answered" and verdict:
            yield record.id, verdict.label, record.answer or ""
        elif record.status not in ("answered", "sandbox_error"):
            yield record.id, "none", ""


def _write_tasks(path: Path, questions: Iterable[Question]) -> Path:
    """In the folder that holds the pictures, for its owner alone: it has the answers."""
    path.touch(mode=0o600)
    with path.open("w", encoding="utf-8") as file:
        for each in questions:
            gold = {"answer": each.answer, "aliases": list(each.aliases)}
            row = {"id": each.candidate, "image": each.picture, "question": each.question, "gold": gold}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path
