"""What changed in a request since the one before it in the same conversation: by hashes, as a plain list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from fieldmark.blobs import BlobStore
from fieldmark.evals.inspector.messages import Message, message
from fieldmark.evals.inspector.telling import MOST, as_json
from fieldmark.trace import Event, ModelRequest, Picture

Kind = Literal["added", "cut", "altered"]


@dataclass(frozen=True)
class Change:
    """`what` was added, cut or altered; `was` and `now` are its texts, "" where it is or was not there."""

    kind: Kind
    what: str
    was: str = ""
    now: str = ""
    picture: Picture | None = None


def request_before(backwards: Iterable[Event], request: ModelRequest) -> ModelRequest | None:
    """The last one before it of the same role and conversation; None for the first. The events are told
    the last first, and no more of them than it takes.
    """
    for event in backwards:
        if (
            isinstance(event, ModelRequest)
            and event.seq < request.seq
            and (event.thread, event.role) == (request.thread, request.role)
        ):
            return event
    return None


def changes(before: ModelRequest, now: ModelRequest, blobs: BlobStore) -> list[Change]:
    """Of messages, pictures, tools and settings, in this order. Only what changed is read from the blobs."""
    return [
        *_system(before, now, blobs),
        *_messages(before, now, blobs),
        *_pictures(before, now),
        *_tools(before, now),
        *_settings(before, now),
    ]


def _system(before: ModelRequest, now: ModelRequest, blobs: BlobStore) -> Iterator[Change]:
    if before.system != now.system and not (now.partial and now.system is None):
        was, is_now = (
            _words(message(digest, blobs)) if digest else "" for digest in (before.system, now.system)
        )
        yield Change(_kind(before.system, now.system), "system prompt", was, is_now)


def _messages(before: ModelRequest, now: ModelRequest, blobs: BlobStore) -> Iterator[Change]:
    """A request that only goes on with what the server keeps cuts nothing.

    `SequenceMatcher` skips what stands in long lists often: a trace of one message many times takes no age.
    """
    was, are = ([], now.messages) if now.partial else (before.messages, now.messages)
    same = next(
        (n for n, (a, b) in enumerate(zip(was, are, strict=False)) if a != b), min(len(was), len(are))
    )
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, was[same:], are[same:]).get_opcodes():
        if kind != "equal":
            old = [(place, message(was[place], blobs)) for place in range(same + a0, same + a1)]
            new = [(place, message(are[place], blobs)) for place in range(same + b0, same + b1)]
            yield from _replaced(old, new)


Placed = tuple[int, Message]


def _replaced(old: list[Placed], new: list[Placed]) -> Iterator[Change]:
    """Messages of one role at one place were altered; what is left of either was cut or added.

    Of a mark for a cache, which agents move along, nothing is said to the model.
    """
    while old and new and old[0][1].role == new[0][1].role:
        (was_at, was), (at, now) = old.pop(0), new.pop(0)
        moved = "" if was_at == at else f", former message {was_at + 1}"
        said = (_words(was), _words(now))
        quiet, said = (": only what is not said", ("", "")) if said[0] == said[1] else ("", said)
        yield Change("altered", f"message {at + 1}, {now.role}{moved}{quiet}", *said)
    for at, was in old:
        yield Change("cut", f"former message {at + 1}, {was.role}", was=_words(was))
    for at, now in new:
        yield Change("added", f"message {at + 1}, {now.role}", now=_words(now))


def _pictures(before: ModelRequest, now: ModelRequest) -> Iterator[Change]:
    had, has = (Counter(picture.blob for picture in request.pictures) for request in (before, now))
    known = {picture.blob: picture for picture in (*before.pictures, *now.pictures)}
    for blob in Counter() if now.partial else had - has:
        yield Change("cut", "picture", picture=known[blob])
    for blob in has if now.partial else has - had:
        yield Change("added", "picture", picture=known[blob])


def _tools(before: ModelRequest, now: ModelRequest) -> Iterator[Change]:
    had, has = set(before.tools), set(now.tools)
    yield from (Change("cut", f"tool {name}") for name in before.tools if name not in has)
    yield from (Change("added", f"tool {name}") for name in now.tools if name not in had)
    if had == has and before.tools_blob != now.tools_blob:
        yield Change("altered", "definitions or order of the tools")


def _settings(before: ModelRequest, now: ModelRequest) -> Iterator[Change]:
    had: dict[str, Any] = {"model": before.model, **before.asked}
    has: dict[str, Any] = {"model": now.model, **now.asked}
    for name in dict.fromkeys((*had, *has)):
        was, is_now = had.get(name), has.get(name)
        if was != is_now:
            yield Change(_kind(was, is_now), f"setting {name}", as_json(was), as_json(is_now))


def _kind(was: object, now: object) -> Kind:
    return "added" if was is None else "cut" if now is None else "altered"


def _words(told: Message) -> str:
    """What a message says; a picture by the start of its hash."""
    parts = (f"(picture {part.value[:12]})" if part.kind == "picture" else part.value for part in told.parts)
    return "\n".join(parts)[:MOST]
