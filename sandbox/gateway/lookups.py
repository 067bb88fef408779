"""POST /lookup/*: the services of the host that tools ask for."""

from __future__ import annotations

import asyncio
import base64
import math
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from aiohttp import web

from fieldmark.errors import SearchFault, ToolError
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.pictures import box_of, number
from fieldmark.sandbox.gateway.replies import Refused, gone
from fieldmark.sandbox.gateway.search.engines import COUNTRY, LANGUAGE, known_language
from fieldmark.sandbox.gateway.search.subject import TaskPicture
from fieldmark.sandbox.gateway.session import Session
from fieldmark.skills.skill import read_from

T = TypeVar("T")
Search = Callable[..., Coroutine[Any, Any, dict[str, Any]]]
DEFAULT_HITS, MAX_HITS = 5, 20
MAX_QUERY = 500
_STATUS = {"invalid_args": 400, "denied": 403, "timeout": 504}


async def reverse_image(session: Session, request: web.BaseRequest) -> web.Response:
    """Search for the task picture, or a box of it (original pixels): in the run's index, or by Lens."""
    body = await _json(session, request)
    limit = _limit(body.get("limit", DEFAULT_HITS))
    box = box_of(body["box"]) if body.get("box") is not None else None
    if session.search is not None and session.search.lens:
        subject = TaskPicture(session, box)
        language = known_language(session.prompt.language)
        return await _searched(session, session.search.reverse, subject, language, limit)
    search = session.backends.reverse_image
    return web.json_response(await _found(session, search, session.pictures.original_path, box, limit))


async def web_search(session: Session, request: web.BaseRequest) -> web.Response:
    """Search the web, or the run's own pages, for `query`; the language is the question's unless named."""
    body = await _json(session, request)
    query = body.get("query")
    language = body.get("language") or known_language(session.prompt.language)
    country = body.get("country") or ""
    if not isinstance(query, str) or not query.strip():
        raise Refused(400, "invalid_args", "query is a text")
    if not LANGUAGE.fullmatch(str(language)) or (country and not COUNTRY.fullmatch(str(country))):
        raise Refused(
            400, "invalid_args", "language is a code such as en or zh, country one such as us or cn"
        )
    if session.search is None or session.search.engine is None:
        raise Refused(503, "unavailable", "this run has no web search")
    limit = _limit(body.get("limit", DEFAULT_HITS))
    words = query.strip()[:MAX_QUERY].encode("utf-8", "replace").decode()
    return await _searched(session, session.search.search, words, str(language), str(country).lower(), limit)


async def aircraft(session: Session, request: web.BaseRequest) -> web.Response:
    """Look a registration or 24-bit address up in the run's aircraft registry."""
    query = (await _json(session, request)).get("query", "")
    if not isinstance(query, str):
        raise Refused(400, "invalid_args", "query is a text")
    return web.json_response(await _found(session, session.backends.aircraft, query[:100]))


async def classify(session: Session, request: web.BaseRequest) -> web.Response:
    """ImageNet classes of the task picture, or of a box of it (original pixels)."""
    body = await _json(session, request)
    limit = _limit(body.get("limit", DEFAULT_HITS))
    box = box_of(body["box"]) if body.get("box") is not None else None
    job = session.backends.classify
    return web.json_response(await _found(session, job, session.pictures.original_path, box, limit))


async def found_picture(session: Session, request: web.BaseRequest) -> web.Response:
    """A picture that a search found, by the name that the hit has for it (`index:<n>`)."""
    reference = request.query.get("ref", "")[:200]
    data = await _found(session, session.backends.found_picture, reference)
    return web.Response(body=data, content_type="image/jpeg")


async def skill(session: Session, request: web.BaseRequest) -> web.Response:
    """A file of a skill that is on in this run."""
    name, file = request.query.get("name", ""), request.query.get("file", "")
    try:
        return web.json_response(dict(read_from(session.skills, name, file)))
    except ToolError as error:
        raise Refused(404 if error.kind == "not_found" else 400, error.kind, str(error)) from None


async def skill_files(session: Session, request: web.BaseRequest) -> web.Response:
    """All files of the skills that are on, in base64: agents of others want them as folders."""
    packed = {
        skill.name: {path: base64.b64encode(data).decode() for path, data in skill.contents.items()}
        for skill in session.skills
    }
    return web.json_response(packed)


async def _searched(session: Session, search: Search, *args: Any) -> web.Response:
    """A search that may go out: what stops it for all is a fault of ours and ends the episode."""
    try:
        job = session.look_up(search, session, *args)
        return web.json_response(await session.work(job))
    except ToolError as error:
        raise Refused(_STATUS.get(error.kind, 503), error.kind, str(error)) from None
    except SearchFault as fault:
        session.fail(fault)
    except OSError as error:  # the archive or the run folder takes no more
        session.fail_on_disk(error)
    except asyncio.CancelledError:
        if not session.ended.done():
            raise
    return gone()


async def _found(session: Session, job: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
    try:
        return await session.look_up(job, *args)
    except ToolError as error:
        status = {"unavailable": 503, "not_found": 404}.get(error.kind, 400)
        raise Refused(status, error.kind, str(error)) from None


def _limit(value: object) -> int:
    limit = number(value)
    if not math.isfinite(limit):
        raise Refused(400, "invalid_args", f"limit is a number from 1 to {MAX_HITS}")
    return int(min(MAX_HITS, max(1, limit)))


async def _json(session: Session, request: web.BaseRequest) -> dict[str, Any]:
    body = await read_json(session, request)
    if not isinstance(body, dict):
        raise Refused(400, "malformed", "the body is a JSON object")
    return body
