"""The web app: a page for each URL. It only reads, but for one form: a person's label.

/  /run/<name>/  /run/<name>/episode/<key>  …/event/<seq>  …/event/<seq>/request  /run/<name>/blob/<sha256>
/compare?run=<name>&run=<name>&task=<id>&epoch=<n>
POST …/episode/<key>/label
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fieldmark.errors import UsageError
from fieldmark.evals.inspector.blobs import TEXT, served
from fieldmark.evals.inspector.filters import Filter
from fieldmark.evals.inspector.forms import form_of
from fieldmark.evals.inspector.index import EpisodeRow, Index, Opened
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.marking import keep, said
from fieldmark.evals.inspector.pages.beside import beside_page, same_task
from fieldmark.evals.inspector.pages.episode import COLUMNS, Writer, episode_page
from fieldmark.evals.inspector.pages.episodes import episodes_page
from fieldmark.evals.inspector.pages.event import Requests, event_page, request_body
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.pages.runs import runs_page
from fieldmark.evals.inspector.pages.unfinished import unfinished_page
from fieldmark.evals.inspector.security import Guard, is_own_form
from fieldmark.evals.inspector.unfinished import Unfinished

STATIC = Path(__file__).with_name("static")
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


def make_app(
    library: Library, requests: Requests, hosts: Iterable[str], token: str | None, annotator: str = ""
) -> Starlette:
    """`hosts` and `token` as `Guard` has them; `annotator` is who labels, "" for nobody."""
    pages = Pages(library, requests, Writer(annotator, secrets.token_urlsafe(24)))
    episode = "/run/{name}/episode/{key}"
    routes = [
        Route("/", pages.runs),
        Route("/run/{name}/", pages.episodes),
        Route("/compare", pages.beside),
        Route(episode, pages.episode),
        Route(episode + "/label", pages.label, methods=["POST"]),
        Route(episode + "/event/{seq}", pages.event),
        Route(episode + "/event/{seq}/request", pages.request),
        Route("/run/{name}/blob/{digest}", pages.blob),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Middleware(Guard, hosts=hosts, token=token)
    return Starlette(
        routes=routes,
        middleware=[guard],
        exception_handlers={HTTPException: _refusal, UsageError: _unreadable, OSError: _unreadable},
    )


class Pages:
    """Each URL's answer. Starlette calls them in threads, since they read files."""

    def __init__(self, library: Library, requests: Requests, writer: Writer) -> None:
        self._library, self._requests, self._writer = library, requests, writer

    def runs(self, request: Request) -> Response:
        return HTMLResponse(runs_page(self._library))

    def episodes(self, request: Request) -> Response:
        name, index = self._run(request)
        return HTMLResponse(episodes_page(name, index, _filter(request)))

    def episode(self, request: Request) -> Response:
        name, index, row = self._opened(request)
        number, seq = _whole(request, "step"), _whole(request, "at")
        if isinstance(row, Unfinished):
            return HTMLResponse(unfinished_page(name, index, row, number, seq))
        others = same_task(self._library, name, row)
        page = episode_page(name, index, row, others, _filter(request), self._writer, number, seq)
        return HTMLResponse(page)

    def beside(self, request: Request) -> Response:
        """One task in the runs that the query names."""
        names = list(dict.fromkeys(request.query_params.getlist("run")))
        if not 1 < len(names) <= COLUMNS:
            raise HTTPException(400, f"name 2 to {COLUMNS} different runs: ?run=A&run=B&task=ID")
        runs = {name: self._named(name) for name in names}
        epoch = _whole(request, "epoch") or 0
        return HTMLResponse(beside_page(runs, request.query_params.get("task", ""), epoch))

    async def label(self, request: Request) -> Response:
        """Keep what a person says of an episode, and show it."""
        form = await form_of(request, "a label: shorten the note")
        if not is_own_form(request, form.get("token", ""), self._writer.token):
            raise HTTPException(
                403, "not a form of this viewer: open the episode anew and send it from there"
            )
        if not self._writer.annotator:
            raise HTTPException(409, "nobody labels here: start `fieldmark view` with --annotator NAME")
        try:
            await run_in_threadpool(self._keep, request, form)
        except UsageError as error:
            raise HTTPException(409, str(error)) from None
        name, key = (quote(request.path_params[part], safe="") for part in ("name", "key"))
        return RedirectResponse(f"/run/{name}/episode/{key}?{_filter(request).query()}#label", 303)

    def _keep(self, request: Request, form: dict[str, str]) -> None:
        _, index, row = self._row(request)
        keep(index.folder, said(row, self._writer.annotator, form))

    def event(self, request: Request) -> Response:
        name, index, row = self._opened(request)
        seq = _number(request.path_params["seq"])
        page = None if seq is None else event_page(name, index, row, seq, self._requests)
        if page is None:
            raise HTTPException(404, "this episode has no such event")
        return HTMLResponse(page)

    def request(self, request: Request) -> Response:
        """The body that the model's server was asked with, as a file."""
        _, index, row = self._opened(request)
        seq = _number(request.path_params["seq"])
        body = None if seq is None else request_body(index, row, seq, self._requests)
        if body is None:
            raise HTTPException(404, "this event is no request, or a part of it is gone")
        headers = {"Content-Disposition": f'attachment; filename="request-{seq}.json"'}
        return Response(body, media_type="application/json", headers=headers)

    def blob(self, request: Request) -> Response:
        _, index = self._run(request)
        found = served(index.folder.blob_store(), request.path_params["digest"])
        if found is None:
            raise HTTPException(404, "this run has no such blob")
        quiet = {"Content-Security-Policy": "default-src 'none'; sandbox"} if found.media_type == TEXT else {}
        return Response(found.data, media_type=found.media_type, headers={**_FOREVER, **quiet})

    def _run(self, request: Request) -> tuple[str, Index]:
        name = request.path_params["name"]
        return name, self._named(name)

    def _named(self, name: str) -> Index:
        index = self._library.run(name)
        if index is None:
            raise HTTPException(404, f"no run {name!r} here")
        return index

    def _row(self, request: Request) -> tuple[str, Index, EpisodeRow]:
        name, index = self._run(request)
        row = index.snapshot().by_key.get(request.path_params["key"])
        if row is None:
            raise HTTPException(404, "this run has no such finished episode")
        return name, index, row

    def _opened(self, request: Request) -> tuple[str, Index, Opened]:
        """Also one that has not ended."""
        name, index = self._run(request)
        episode = index.opened(request.path_params["key"])
        if episode is None:
            raise HTTPException(404, "this run has no such episode, or it has not begun")
        return name, index, episode


def _filter(request: Request) -> Filter:
    return Filter.of(request.query_params, request.query_params.getlist("fact"))


def _whole(request: Request, name: str) -> int | None:
    return _number(request.query_params.get(name, ""))


def _number(given: str) -> int | None:
    """None for what is no number, or longer than that of any event."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    page = render("refusal.html.j2", code=error.status_code, why=error.detail, live=False)
    return HTMLResponse(page, error.status_code, headers=error.headers)


def _unreadable(request: Request, error: Exception) -> Response:
    """A run whose run.json is broken, or a file that is closed to us or has just been taken away."""
    return HTMLResponse(render("refusal.html.j2", code=500, why=str(error), live=False), 500)
