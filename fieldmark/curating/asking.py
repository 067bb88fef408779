"""Candidates asked closed book: ordinary runs, in the folder runs/ of the curation, judged as any run is.

A run that was stopped is gone on with; what a model has answered is not asked again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fieldmark import jsonl, launch
from fieldmark.config import RunConfig
from fieldmark.errors import InterruptedRun
from fieldmark.evals.curation import answers
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.settings import model_key, takes_pictures
from fieldmark.evals.judges import get_judge
from fieldmark.launch import Say
from fieldmark.model_config import ModelConfig
from fieldmark.probing import Probe
from fieldmark.run_reader import RunReader, part
from fieldmark.runner import Run
from fieldmark.sandbox.gateway.endpoint import public_url

CACHE, RUNS = "cache", "runs"


@dataclass(frozen=True)
class Question:
    """A picture and what is asked of it. `picture` is relative to the project's folder."""

    candidate: str
    picture: str
    question: str
    answer: str
    aliases: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """What an answer was given to and judged by: another question or gold makes it another one."""
        told = json.dumps([self.question, self.answer, list(self.aliases)], ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()[:12]


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
    """Candidate → label, of the questions as they are now, whenever they were asked. InterruptedRun: stopped
    early, or the model sees no picture; what it answered until then is kept.
    """
    asked = {each.candidate: each for each in questions}
    asking = _Asking(project, step, model, {name: each.hash for name, each in asked.items()}, say)
    if not takes_pictures(model):
        say(f"{asking.key} takes no pictures: what it does not know says nothing of a picture")
    asking.go_on()
    known = asking.known()
    if left := [each for name, each in asked.items() if name not in known]:
        asking.begin(left, how)
    return asking.known()


@dataclass(frozen=True)
class _Asking:
    """One model at one step. `wanted`: candidate → hash of its question."""

    project: Project
    step: str
    model: ModelConfig
    wanted: Mapping[str, str]
    say: Say

    @property
    def key(self) -> str:
        return model_key(self.model)

    @cached_property
    def judge(self) -> str:
        return get_judge(self.project.settings.screen.judge).name

    @property
    def prefix(self) -> str:
        """Of its runs' names; two models never share one."""
        short = hashlib.sha256(self.key.encode()).hexdigest()[:6]
        return f"{self.step}-{re.sub(r'[^A-Za-z0-9]+', '-', self.key).strip('-')}-{short}"

    def known(self) -> dict[str, str]:
        return answers.verdicts(self.project, self.step, self.key, self.judge, self.wanted)

    def runs(self) -> list[Path]:
        """In the order in which they began."""
        found = (self.project.folder / RUNS).glob(f"{self.prefix}-*")
        return sorted((path for path in found if _number(path)), key=_number)

    def go_on(self) -> None:
        """Take what earlier runs have that is not taken yet; carry out what was stopped and is of use."""
        taken = answers.runs(self.project, self.step, self.key)
        for path in self.runs():
            run = RunReader(path)
            if not run.run_json.exists():
                continue
            config = run.config()
            finished = config.get("state") == "finished"
            if finished and path.name in taken:
                continue
            self.take(run)
            if not finished and self._is_of_use(path.name, config):
                self.play(launch.resume_run(path, {}, self.say))

    def _is_of_use(self, name: str, config: dict[str, object]) -> bool:
        """Whether a stopped run still asks what is to be asked, where and as it would be asked now."""
        probe = Probe.recorded(config)
        url = self.model.base_url
        was = (part(config, "config").get("model") or {}).get("base_url")
        same = config.get("judge") == self.judge and (url is None or public_url(url) == was)
        known = self.known()
        left = any(
            self.wanted.get(one) == asked for one, asked in self.asked(name).items() if one not in known
        )
        return same and left and not (probe and probe.verdict == "blind")

    def begin(self, left: list[Question], how: How) -> None:
        """A new run over `left`."""
        name = f"{self.prefix}-{max(map(_number, self.runs()), default=0) + 1}"
        folder = self.project.folder
        config = RunConfig(
            benchmark=str(_write_tasks(self.tasks(name), left)), agent="closed_book", model=self.model,
            judge=self.project.settings.screen.judge, cache=folder / CACHE if how.cached else None,
            out=folder / RUNS / name, parallel=how.parallel, probe=how.probe,
        )  # fmt: skip
        self.say(f"{self.step}: {len(left)} pictures for {self.key}")
        self.play(launch.new_run(config, self.say))

    def play(self, run: Run) -> None:
        """To its end; what it answered is kept, however it ends."""
        try:
            launch.play(run)
        except InterruptedRun:
            probe = Probe.recorded(run.folder.config())
            if probe and probe.verdict == "blind":
                raise InterruptedRun(
                    f"{probe.why}: what it does not know says nothing of a picture; mend that, name another"
                    " in curate.toml, or ask it all the same with --no-probe"
                ) from None
            raise InterruptedRun(f"stopped: the same command goes on with {self.step}") from None
        finally:
            self.take(run.folder)

    def take(self, run: RunReader) -> None:
        """File what it answered and how that was judged."""
        judge, asked = str(run.config().get("judge")), self.asked(run.path.name)
        answered = [row for row in _answered(run) if row[0] in asked]
        answers.add(self.project, self.step, self.key, judge, run.path.name, answered, asked)

    def tasks(self, name: str) -> Path:
        """The file of what a run was asked."""
        return self.project.folder / f"asked-{name}.jsonl"

    def asked(self, name: str) -> dict[str, str]:
        """Candidate → hash of the question that a run asked of it."""
        return {each.candidate: each.hash for each in _read_tasks(self.tasks(name))}


def _number(run: Path) -> int:
    """0: it is no run of ours."""
    last = run.name.rpartition("-")[2]
    return int(last) if last.isdecimal() else 0


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


def _read_tasks(path: Path) -> Iterator[Question]:
    for row in jsonl.read(path).rows if path.is_file() else []:
        gold = row["gold"]
        yield Question(
            str(row["id"]), str(row["image"]), str(row["question"]), gold["answer"], tuple(gold["aliases"])
        )
