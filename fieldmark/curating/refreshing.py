"""A release looked at again: which of its items the models of today answer closed book; what is written."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.curating.asking import How, Question, ask
from fieldmark.errors import UsageError
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.release import items
from fieldmark.evals.curation.settings import model_key
from fieldmark.launch import Say
from fieldmark.model_config import ModelConfig
from fieldmark.whole_file import write_whole

FOLDER = "refresh"


@dataclass(frozen=True)
class Drift:
    """Of `of` items `known` are answered by now; `ids` names them, `open` are without a verdict."""

    model: str
    of: int
    known: int
    open: int
    ids: list[str]


def ask_again(project: Project, models: Sequence[ModelConfig], how: How, say: Say) -> list[Drift]:
    """Ask each model anew, without the cache. A second call on the same day asks only what is missing."""
    asked = [
        Question(item["id"], candidate.path, item["question"], item["answer"], tuple(item["aliases"]))
        for candidate, item in items(project)
    ]
    drifts = []
    for model in models:
        labels = ask(project, f"refresh-{today()}", model, asked, how, say)
        known = [each.candidate for each in asked if labels.get(each.candidate) == "correct"]
        left = sum(each.candidate not in labels for each in asked)
        drifts.append(Drift(model_key(model), len(asked), len(known), left, known))
    return drifts


def check_released(project: Project) -> None:
    """UsageError: nothing is kept by every step."""
    if next(items(project), None) is None:
        raise UsageError("no candidate is kept by every step: there is nothing to look at again")


def write(project: Project, told: dict[str, Any]) -> Path:
    """Into `refresh/DATE.json`, beside what else was looked at on that day."""
    path = project.folder / FOLDER / f"{today()}.json"
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    write_whole(path, (json.dumps({**before, **told}, ensure_ascii=False, indent=2) + "\n").encode())
    return path


def today() -> str:
    """UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
