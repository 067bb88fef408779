"""GET and POST /turn: a game that the host plays with the agent, one message at a time.

The gateway knows no rules: `Game` does, on the host, where the target is. What goes in is the agent's text,
what comes out a text and pictures that were shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from aiohttp import web

from fieldmark.errors import EpisodeFault
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.replies import Refused, gone
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import Picture

MAX_TEXT = 8_000
"""Characters of a text of the agent; what is more is refused."""
Phase = Literal["uploading", "asking", "over"]


@dataclass(frozen=True)
class Told:
    """What the host says. `numbers`: the place of each of `pictures` in the gallery, from 1.

    `turn` counts questions from 1, 0 before the first; `rule` is the one that the agent's text broke.
    `guess`: the agent's own, as it was heard.
    """

    text: str
    phase: Phase
    turn: int = 0
    pictures: tuple[Picture, ...] = ()
    numbers: tuple[int, ...] = ()
    rule: str | None = None
    about: str | None = None
    guess: int | None = None


class Game(Protocol):
    """A game of one attempt. `told` is the last message; `hear` raises EpisodeFault for what is not the
    agent's fault, and has then changed nothing. It may take long, and is called in a thread.
    """

    @property
    def told(self) -> Told: ...

    def hear(self, text: str) -> Told: ...


class Table:
    """A game as a session has it: one text after the other, and the pictures that were shown so far."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.shown: dict[str, Picture] = {}
        self.begun = False
        self.turns = asyncio.Lock()

    def show(self, told: Told) -> None:
        self.shown |= {picture.blob: picture for picture in told.pictures}


async def now(session: Session, request: web.BaseRequest) -> web.Response:
    """The message that is due; the first begins the game."""
    table = _table(session)
    async with table.turns:
        told = table.game.told
        if not table.begun:
            table.begun = True
            _log(session, table, "", told)
        return _reply(told)


async def say(session: Session, request: web.BaseRequest) -> web.Response:
    """What the host says to the agent's `text`. The time that its referees take is not the agent's."""
    table = _table(session)
    body = await read_json(session, request)
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise Refused(400, "invalid_args", f"text is a text of at most {MAX_TEXT} characters")
    async with table.turns:
        if not table.begun:
            raise Refused(409, "not_begun", "the game has not begun: GET /turn")
        if table.game.told.phase == "over":
            raise Refused(409, "over", "the game is over")
        try:
            with session.clock.waiting():
                told = await session.work(session.in_thread(table.game.hear, text))
        except EpisodeFault as fault:
            session.fail(fault)
            return gone()
        _log(session, table, text, told)
        return _reply(told)


async def picture(session: Session, request: web.BaseRequest) -> web.Response:
    """A picture of the gallery that was shown, by its `blob`."""
    found = _table(session).shown.get(request.query.get("blob", ""))
    if found is None:
        raise Refused(404, "not_found", "no such picture was shown")
    data = await session.in_thread(session.blobs.get, found.blob)
    return web.Response(body=data, content_type=found.media_type)


def _table(session: Session) -> Table:
    if session.table is None:
        raise Refused(404, "not_found", "this episode is no game")
    return session.table


def _log(session: Session, table: Table, text: str, told: Told) -> None:
    """The event of a turn: what the agent said and what it was told, nothing that only the host knows."""
    table.show(told)
    fields: dict[str, Any] = {
        "turn": told.turn, "phase": told.phase, "text": text, "reply": told.text,
        "pictures": [each.model_dump(exclude_none=True) for each in told.pictures],
        "numbers": list(told.numbers), "rule": told.rule, "about": told.about, "guess": told.guess,
    }  # fmt: skip
    session.log("gateway", "game_turn", {key: value for key, value in fields.items() if value is not None})


def _reply(told: Told) -> web.Response:
    return web.json_response(
        {
            "text": told.text,
            "pictures": [each.model_dump(exclude_none=True) for each in told.pictures],
            "numbers": list(told.numbers),
            "over": told.phase == "over",
            "guess": told.guess,
        }
    )
