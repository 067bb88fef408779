"""The two screens: models are asked, then rules over their verdicts decide (`evals/curation/screens.py`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fieldmark.curating.asking import How, Question, ask
from fieldmark.errors import UsageError
from fieldmark.evals.curation.deciding import Told, decide_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Step
from fieldmark.evals.curation.screens import first, hard, sample
from fieldmark.evals.curation.settings import model_key
from fieldmark.launch import Say


def screen_first(project: Project, how: How, say: Say) -> Told:
    """One model over a sample of each class. UsageError: curate.toml names none, or there is no candidate."""
    settings = project.settings.screen.first
    if settings.model is None:
        raise UsageError("curate.toml names no model in [screen.first]: say which one is asked")
    classes = _classes(project, "import")
    asked = set(sample(classes, settings.images))
    verdicts = ask(project, "screen.first", settings.model, _questions(project, "import", asked), how, say)
    return decide_all(project, "screen.first", first(classes, verdicts, settings))


def screen_hard(project: Project, how: How, say: Say) -> Told:
    """Several models over all that is left. UsageError as `screen_first`."""
    settings = project.settings.screen.hard
    if not settings.models:
        raise UsageError("curate.toml names no models in [screen.hard]: say which ones are asked")
    classes = _classes(project, "screen.first")
    verdicts = {
        model_key(model): ask(
            project, "screen.hard", model, _questions(project, "screen.first", set(classes)), how, say
        )
        for model in settings.models
    }
    return decide_all(project, "screen.hard", hard(classes, verdicts, settings))


def _classes(project: Project, after: Step) -> dict[str, str]:
    project.require(after)
    return {each.id: each.class_name for each in project.candidates(after=after)}


def _questions(project: Project, after: Step, asked: Collection[str]) -> Iterator[Question]:
    for each in project.candidates(after=after):
        if each.id in asked:
            yield Question(each.id, each.path, project.settings.screen.question, each.label)
