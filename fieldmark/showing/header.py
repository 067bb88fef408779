"""What became of an episode, a line each: the question, the picture, the answer and the words on it."""

from __future__ import annotations

from collections.abc import Iterator

from fieldmark.counting import counted
from fieldmark.evals.metrics.outcomes import facets_of, labels_of
from fieldmark.findings import Failure, GoldFacts, TraceFacts
from fieldmark.showing.looking import Shown
from fieldmark.showing.visible import one_line
from fieldmark.trace import EpisodeStart, Picture

LIMIT = 600
"""Characters of one value."""


def header(shown: Shown) -> list[tuple[str, str]]:
    """Name and value of each line, on one line each and safe on a terminal."""
    record, labels = shown.record, shown.task.get("labels")
    told = {
        "run": str(shown.folder.path),
        "task": f"{record.id} · epoch {record.epoch} · attempt {record.attempt} · {record.trace}",
        "labels": " · ".join([*labels_of(labels).values(), *facets_of(labels).values()]),
        "question": str(shown.task.get("question") or "?"),
        "picture": _picture(shown),
        "agent": f"{record.agent} · {record.model}",
        "status": _status(shown),
        "answer": _answer(shown),
        "gold": _gold(shown),
        "verdict": _verdict(shown),
        "failure": _failure(shown),
        "facts": " · ".join(_facts(shown.facts)),
        "with gold": " · ".join(_gold_facts(shown.gold_facts)),
        "used": _used(shown),
    }
    return [(name, one_line(value, LIMIT)) for name, value in told.items() if value]


def _picture(shown: Shown) -> str:
    start = _start(shown)
    if start is None:
        return ""
    size = f"{start.image.width}×{start.image.height}"
    view = (
        "" if start.view.blob == start.image.blob else f" · shown as {start.view.width}×{start.view.height}"
    )
    return f"{size} {start.image.media_type}{view} · {start.image.blob} · {where(shown, start.image)}"


def task_picture(shown: Shown) -> Picture | None:
    """As the agent was given it."""
    start = _start(shown)
    return start.view if start else None


def _start(shown: Shown) -> EpisodeStart | None:
    return next((event for event in shown.events if isinstance(event, EpisodeStart)), None)


def where(shown: Shown, picture: Picture) -> str:
    """The file of a picture."""
    try:
        return str(shown.folder.blob_store().path(picture.blob))
    except KeyError:
        return "not in this copy of the run"


def _status(shown: Shown) -> str:
    record, error = shown.record, shown.record.error
    broken = f" · {error.boundary}/{error.kind}: {error.message}" if error else ""
    return f"{record.status} after {record.seconds:.1f} s (charged {record.charged_seconds:.1f} s){broken}"


def _answer(shown: Shown) -> str:
    record = shown.record
    sure = "" if record.confidence is None else f" · confidence {record.confidence:.2f}"
    return f"{record.answer or '(none)'}{sure}"


def _gold(shown: Shown) -> str:
    gold = shown.gold
    also = f" · also {', '.join(gold.aliases)}" if gold and gold.aliases else ""
    return f"{gold.answer}{also}" if gold else ""


def _verdict(shown: Shown) -> str:
    verdict = shown.verdict
    if verdict is None:
        return "none: not judged"
    finer = " · finer than the reference" if verdict.finer else ""
    why = f" · {shown.reason}" if shown.reason else ""
    return f"{verdict.label} ({verdict.score:g}) by {verdict.judge}{finer}{why}"


def _failure(shown: Shown) -> str:
    failure = shown.failure
    if failure is None:
        return ""
    why = f" · {shown.why.reason}" if shown.why else ""
    return f"{_class(failure)} · by {failure.stage}, events {_events(shown.cited)}{why}"


def _class(failure: Failure) -> str:
    return "/".join(str(part) for part in (failure.label or "(open)", failure.sub, failure.link) if part)


def _events(seqs: list[int]) -> str:
    return ", ".join(map(str, seqs)) or "none"


def _facts(facts: TraceFacts | None) -> Iterator[str]:
    if facts is None:
        return
    yield f"{counted(facts.acts, 'act')}, {facts.failed_acts} failed"
    yield "looked" if facts.looked else "never looked"
    yield "searched" if facts.searched else "never searched"
    yield f"answered from {facts.answered_from}"
    if facts.answer_event is not None:
        yield f"the answer stood first in event {facts.answer_event}"
    yield f"picture {facts.picture or 'unknown'}{', then lost' if facts.picture_lost else ''}"


_GOLD_FACTS = {
    "reached": "an evidence page reached",
    "seen": "gold seen",
    "region": "looked at the right place",
    "dropped": "gold named and dropped",
    "supported": "supported",
}


def _gold_facts(facts: GoldFacts | None) -> Iterator[str]:
    for name, told in _GOLD_FACTS.items() if facts else ():
        value, event = getattr(facts, name), getattr(facts, f"{name}_event", None)
        if value is not None:
            yield f"{told}: {'yes' if value else 'no'}" + ("" if event is None else f" (event {event})")


def _used(shown: Shown) -> str:
    record = shown.record
    calls, tokens = record.counts.get("model_calls"), record.tokens
    cost = "cost unknown" if record.cost is None else f"{record.cost:g} USD"
    read = f"{tokens.input} tokens in, {tokens.output} out" if tokens else "tokens unknown"
    return f"{calls} model calls · {read} · {cost}"
