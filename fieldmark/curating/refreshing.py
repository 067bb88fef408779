"""A release looked at again: which of its items the models of today answer closed book."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from fieldmark.curating.asking import How, Question, ask
from fieldmark.errors import UsageError
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.release import items
from fieldmark.evals.curation.settings import model_key
from fieldmark.launch import Say
from fieldmark.model_config import ModelConfig

FOLDER = "refresh"


@dataclass(frozen=True)
class Drift:
    """Of `of` items `known` are answered by now; `ids` names them, `open` are without a verdict."""

    model: str
    of: int
    known: int
    open: int
    ids: list[str]


def refresh(project: Project, models: Sequence[ModelConfig], how: How, say: Say) -> list[Drift]:
    """Ask each model anew, without the cache, and write `refresh/DATE.json`. It decides nothing: who wants an
    item out raises the version and screens again. A second call on the same day asks only what is missing.
    """
    asked = [
        Question(item["id"], candidate.path, item["question"], item["answer"], tuple(item["aliases"]))
        for candidate, item in items(project)
    ]
    if not asked:
        raise UsageError("no candidate is kept by every step: there is nothing to look at again")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    drifts = []
    for model in models:
        labels = ask(project, f"refresh-{today}", model, asked, how, say)
        known = [each.candidate for each in asked if labels.get(each.candidate) == "correct"]
        left = sum(each.candidate not in labels for each in asked)
        drifts.append(Drift(model_key(model), len(asked), len(known), left, known))
    place = project.folder / FOLDER
    place.mkdir(exist_ok=True)
    told = json.dumps([asdict(drift) for drift in drifts], ensure_ascii=False, indent=2)
    (place / f"{today}.json").write_text(told + "\n", encoding="utf-8")
    return drifts
