"""The pictures of a folder labelled by the models of its attributes.toml, and what came of it written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fieldmark.errors import DataFault, UsageError
from fieldmark.evals.asking.identity import sha256_of
from fieldmark.evals.asking.request import Ask, Message, read_prompt
from fieldmark.evals.curation.attributes import audit, labels
from fieldmark.evals.curation.attributes.asking import PROMPT, Asker, Request, requests
from fieldmark.evals.curation.attributes.labels import Labels, TypeCount
from fieldmark.evals.curation.attributes.settings import Settings
from fieldmark.evals.curation.attributes.spent import Spent, spent
from fieldmark.evals.curation.attributes.state import State
from fieldmark.evals.curation.attributes.voting import Vote
from fieldmark.evals.failures.agreement import Agreement
from fieldmark.evals.judges.base import JudgingOver, ServerDown, Unjudged
from fieldmark.judging.model import Asked, AskedModel
from fieldmark.trace import Tokens
from fieldmark.whole_file import write_whole

REPORT = "attributes.json"
TO_LABEL = Asked("labeller", "attributes.toml", "a [[models]] name", "its base_url", "its ")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Labelled:
    """`refused`: requests without a reply, asked again by the next call. `audited`: person against vote."""

    pictures: int
    refused: int
    counts: dict[str, TypeCount]
    episodes: dict[float, int]
    audited: dict[str, Agreement]
    spent: dict[str, Spent]


def askers(settings: Settings) -> list[Asker]:
    """The models with their prompts. UsageError: one lacks its server or prompt."""
    found = []
    for each in settings.models:
        model = AskedModel.of(each.name, each, TO_LABEL)
        prompt = read_prompt("fieldmark.evals.curation.attributes", PROMPT, each.prompts)
        found.append(Asker(each, model.shown, prompt, _checked(model)))
    return found


def _checked(model: AskedModel) -> Ask:
    """Asks a model, and first of all whether it is there: not before something is asked of it."""
    check = cache(model.check)

    def ask(
        messages: list[Message], temperature: float | None, seed: int | None
    ) -> tuple[str, Tokens | None]:
        check()
        return model.ask(messages, temperature, seed)

    return ask


def label_all(folder: Path, state: State, settings: Settings, parallel: int, say: Say) -> Labelled:
    """Ask what was not asked yet, vote, and write the set; a server that is not there is a UsageError, and
    what was answered until then is kept.
    """
    models, found, refused = askers(settings), Labels(settings), 0
    with ThreadPoolExecutor(parallel) as pool:
        for picture in state.pictures():
            try:
                asked = requests(folder / picture.path, settings, models)
            except (DataFault, OSError) as error:
                raise UsageError(f"{folder / picture.path} cannot be read ({error}): restore it") from None
            votes = [*pool.map(lambda each: _vote(each, state, say), asked)]
            refused += sum(not answered for answered, _ in votes)
            found.add(picture, [vote for _, vote in votes])
    episodes = labels.write(folder, found, settings)
    audit.write(folder, found.images, settings)
    audited = audit.agreements(folder, found.images, settings)
    used = spent(state.used(), settings.prices)
    told = Labelled(len(found.images), refused, found.counts(), episodes, audited, used)
    text = json.dumps(_report(told, settings, models), ensure_ascii=False, indent=2)
    write_whole(folder / REPORT, f"{text}\n".encode())
    return told


def _vote(asked: Request, state: State, say: Say) -> tuple[bool, Vote]:
    """Whether the server replied, and the vote: without a reply nothing is said, which is no word for No."""
    try:
        return True, asked.vote(state)
    except (ServerDown, JudgingOver) as error:
        raise UsageError(f"stopped: {error}; the same command goes on, nothing is asked twice") from None
    except Unjudged as error:
        say(f"no reply on {asked.question.type}: {error}"[:300])
        return False, asked.silent()


def _report(told: Labelled, settings: Settings, models: Sequence[Asker]) -> dict[str, Any]:
    """Publishable but for what the pictures are: all settings, without a secret or a path."""
    said = settings.model_dump(mode="json")
    for each, model in zip(said["models"], models, strict=True):
        del each["prompts"]
        each["base_url"] = model.url
        each["prompt_sha256"] = sha256_of(model.prompt)
    return {
        "settings": said, "pictures": told.pictures, "refused": told.refused,
        "types": {name: each.model_dump() for name, each in told.counts.items()},
        "episodes": {f"{tau:g}": count for tau, count in told.episodes.items()},
        "audit": {name: each.model_dump(mode="json") for name, each in told.audited.items()},
        "spent": {name: each.model_dump() for name, each in told.spent.items()},
    }  # fmt: skip
