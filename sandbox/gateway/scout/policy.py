"""`builtin/scout`: a baseline WITHOUT a vision model. It never sees a pixel, and it never sees gold.

Rules instead of weights: read registrations and look them up, read all text where the question asks for a
text or a name, look closer where text was hard to read, search for the picture, ask a small classifier where
nothing else was found and it knows the kind of thing that is asked for, then say what the results support, or
"unknown". It is served by the gateway on the host as if it were a model, so the loop, the
trace and the counts around it are real. Its scores say what the tools alone are worth; they are no
measure of recognition.

Stateless: every reply follows from the request alone (its tools and its messages).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from fieldmark.sandbox.gateway.scout import evidence as evidence
from fieldmark.sandbox.gateway.scout import game
from fieldmark.sandbox.gateway.scout.evidence import Conclusion, number
from fieldmark.sandbox.gateway.scout.kinds import asked_groups
from fieldmark.sandbox.gateway.scout.request import Seen, read_request

SEES = False
description = (
    "A rule-based baseline without a vision model: it plans tool calls (OCR, aircraft registry, picture "
    "search, a classifier of 1,000 classes) from their results and answers what they support. It sees "
    "neither the picture nor any gold."
)

_LOOK_UPS = 3  # registrations tried in one episode
_MOST_STEPS = 16  # whatever a framework does to the history, then it is time to answer
_LEGIBLE = 0.8  # a line surer than this needs no closer look

Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class ScoutReply:
    """`text` is None beside tool calls; a call is `{"name": …, "arguments": {…}}`."""

    text: str | None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


def respond(request: Any) -> ScoutReply:
    """The next tool calls, or the answer. Never raises, however odd the request."""
    seen = read_request(request)
    if game.LOOK in seen.names:
        return _play(seen)
    for stage in _STAGES if len(seen.steps) < _MOST_STEPS else ():
        calls = [(tool, arguments) for tool, arguments in stage(seen) if seen.offers(tool)]
        if calls:
            return ScoutReply(None, [seen.call(tool, arguments) for tool, arguments in calls])
    return _say(seen, evidence.conclude(seen))


def _play(seen: Seen) -> ScoutReply:
    """A turn of AMIGO, or the looks that it takes first."""
    chosen = game.move(seen.said, [step.data for step in seen.done(game.LOOK)])
    looks = [seen.call(game.LOOK, {"picture": number}) for number in chosen.look_at]
    return ScoutReply(None if looks else chosen.text, looks)


def _read(seen: Seen) -> Calls:
    return [] if seen.done("ocr") else [("ocr", {"mode": "registration"})]


def _look_up(seen: Seen) -> Calls:
    """The surest registration that has not been looked up, until one is found."""
    tried = [str(step.arguments.get("registration")) for step in seen.done("aircraft_registry")]
    new = [mark for mark in evidence.marks(seen) if mark not in tried]
    if not new or len(tried) >= _LOOK_UPS or evidence.from_registry(seen):
        return []
    return [("aircraft_registry", {"registration": new[0]})]


def _read_all(seen: Seen) -> Calls:
    """All the text, in the language of the question, where a text or a name is asked for."""
    if evidence.from_registry(seen) or not evidence.asks_text(seen) or len(seen.done("ocr")) > 1:
        return []
    return [("ocr", {"mode": "text", "lang": "en" if seen.question.isascii() else "en+zh"})]


def _look_closer(seen: Seen) -> Calls:
    """Once: the text box that looks most like a mark but was hard to read, enlarged and read again."""
    unsure = [row for row in evidence.lines(seen) if number(row.get("confidence")) < _LEGIBLE and _box(row)]
    if evidence.from_registry(seen) or seen.done("crop_zoom") or len(seen.done("ocr")) > 1 or not unsure:
        return []
    corners = dict(zip(("x1", "y1", "x2", "y2"), _box(max(unsure, key=_promise)), strict=True))
    box = {**corners, "space": "pixel"}
    return [("crop_zoom", box), ("ocr", {"mode": "registration", **box})]


def _search(seen: Seen) -> Calls:
    if seen.done("reverse_image_search") or evidence.from_registry(seen) or evidence.reads_text(seen):
        return []
    return [("reverse_image_search", {})]


def _classify(seen: Seen) -> Calls:
    """Where nothing else was found, and the question asks for a kind of thing that the classifier knows."""
    known = seen.done("classify_image") or evidence.conclude(seen).confidence > 0
    return [] if known or not asked_groups(seen.question) else [("classify_image", {})]


def _note(seen: Seen) -> Calls:
    """Where the run has a memory: who operates the aircraft that was found."""
    if "remember" not in seen.names or seen.done("remember"):
        return []
    for step in seen.done("aircraft_registry"):
        for record in evidence.rows(step.data, "records"):
            if record.get("operator") and record.get("registration") and step.number is not None:
                text = f"{record['registration']} is operated by {record['operator']}."
                return [("remember", {"text": text[:400], "kind": "operator", "cites": [step.number]})]
    return []


_STAGES: tuple[Callable[[Seen], Calls], ...] = (
    _read,
    _look_up,
    _read_all,
    _look_closer,
    _search,
    _classify,
    _note,
)


def _promise(line: dict[str, Any]) -> tuple[int, float]:
    """Capitals and digits make a mark; of two alike the surer one."""
    text = str(line.get("text") or "")
    return sum(char.isupper() or char.isdigit() for char in text), number(line.get("confidence"))


def _box(line: dict[str, Any]) -> list[float]:
    """The line's box with a margin of half its height, in original pixels; [] when it has none."""
    corners = line.get("box")
    if not isinstance(corners, list) or len(corners) != 4:
        return []
    x1, y1, x2, y2 = map(number, corners)
    margin = (y2 - y1) / 2
    if x2 <= x1 or y2 <= y1:
        return []
    padded = (max(x1 - margin, 0.0), max(y1 - margin, 0.0), x2 + margin, y2 + margin)
    return [round(value, 1) for value in padded]


def _say(seen: Seen, conclusion: Conclusion) -> ScoutReply:
    """Through the `answer` tool where it is offered and not used yet, else by text."""
    if "answer" in seen.names and not seen.done("answer"):
        return ScoutReply(None, [seen.call("answer", asdict(conclusion))])
    text = _as_json(conclusion) if seen.wants_json else conclusion.text
    if seen.finish:
        return ScoutReply(None, [{"name": seen.finish, "arguments": {"answer": text}}])
    return ScoutReply(text)


def _as_json(conclusion: Conclusion) -> str:
    fields = asdict(conclusion)
    said = {"answer": fields["text"], "confidence": fields["confidence"], "rationale": fields["rationale"]}
    return json.dumps(said, ensure_ascii=False)
