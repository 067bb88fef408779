"""The audit's web app.

GET /  /item/<candidate>  /picture/<candidate>   POST /mark
"""

from __future__ import annotations

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

from fieldmark.curating.audit.desk import Desk, Shown
from fieldmark.errors import UsageError
from fieldmark.evals.curation.audit.marks import Mark
from fieldmark.evals.curation.evidence.attaching import checked_url
from fieldmark.evals.inspector.app import STATIC
from fieldmark.evals.inspector.forms import form_of
from fieldmark.evals.inspector.pages.rendering import render_in
from fieldmark.evals.inspector.security import Door, Guard, is_own_form
from fieldmark.exam.app import HERE as EXAM

HERE = Path(__file__).parent
MOST = 400
"""Characters of a label, and of a note."""


def make_app(desk: Desk, door: Door) -> Starlette:
    """`door`: who may come in."""
    pages = Pages(desk)
    routes = [
        Route("/", pages.start),
        Route("/item/{candidate}", pages.item),
        Route("/picture/{candidate}", pages.picture),
        Route("/mark", pages.mark, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/exam", StaticFiles(directory=EXAM / "static")),
        Mount("/audit", StaticFiles(directory=HERE / "static")),
    ]
    guard = Middleware(Guard, hosts=door.hosts, token=door.token)
    return Starlette(routes=routes, middleware=[guard])


class Pages:
    """Each address's answer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def start(self, request: Request) -> Response:
        """The next candidate, behind the one in `after`; or that all are marked."""
        found = self._desk.next(request.query_params.get("after", ""))
        if found:
            return RedirectResponse(f"/item/{quote(found)}", 303)
        return HTMLResponse(render_in(HERE, "page.html.j2", desk=self._desk, shown=None, wrong=""))

    def item(self, request: Request) -> Response:
        return self._item(request.path_params["candidate"])

    def picture(self, request: Request) -> Response:
        """The file as the project has it: it was made safe at the import."""
        try:
            data = self._desk.picture(request.path_params["candidate"]).read_bytes()
        except (UsageError, OSError):
            raise HTTPException(404, "no such picture") from None
        return Response(data, media_type="image/png" if data[:4] == b"\x89PNG" else "image/jpeg")

    async def mark(self, request: Request) -> Response:
        form = await form_of(request, "a mark: shorten the note")
        if not is_own_form(request, form.get("token", ""), self._desk.token):
            raise HTTPException(403, "the audit was started anew: open its page again and send it from there")
        candidate = form.get("candidate", "")
        shown = await run_in_threadpool(self._desk.shown, candidate)
        if shown is None:
            raise HTTPException(404, "no such candidate")
        try:
            given = read(form, shown.candidate.label)
            await run_in_threadpool(self._desk.mark, candidate, given)
        except UsageError as error:
            return await run_in_threadpool(self._item, candidate, str(error), form)
        return RedirectResponse(f"/?after={quote(candidate)}", 303)

    def _item(self, candidate: str, wrong: str = "", form: dict[str, str] | None = None) -> Response:
        """`wrong`: what is to be mended in `form`, which comes back as it was sent."""
        shown = self._desk.shown(candidate)
        if shown is None:
            raise HTTPException(404, "no such candidate")
        filled = {**_filled(shown), **(form or {})}
        page = render_in(HERE, "page.html.j2", desk=self._desk, shown=shown, wrong=wrong, filled=filled)
        return HTMLResponse(page, 422 if wrong else 200)


def _filled(shown: Shown) -> dict[str, str]:
    """The fields of the form as this person left them."""
    mine = shown.mine
    if mine is None:
        return {"label": shown.candidate.label, "aliases": "", "urls": "", "note": ""}
    urls, aliases = "\n".join(mine.urls), "; ".join(mine.aliases)
    return {"label": mine.label, "aliases": aliases, "urls": urls, "note": mine.note}


def read(form: dict[str, str], inherited: str) -> Mark:
    """UsageError says what to mend: a correction that is none, or one that would be lost."""
    choice, label = form.get("choice", ""), " ".join(form.get("label", "").split())[:MOST]
    aliases = [" ".join(each.split())[:MOST] for each in form.get("aliases", "").split(";") if each.strip()]
    note = form.get("note", "").strip()[:MOST]
    urls = [checked_url(line) for line in form.get("urls", "").splitlines() if line.strip()]
    if choice == "drop":
        return Mark(choice="drop", label=inherited, note=note)
    if choice == "keep" and label not in ("", inherited):
        raise UsageError(
            f"The label says {label!r}: correct to it, or write {inherited!r} again to keep that."
        )
    if choice == "keep":
        return Mark(choice="keep", label=inherited, aliases=aliases, urls=urls, note=note)
    if choice != "correct":
        raise UsageError("Choose: keep, correct, or drop.")
    if not label or label == inherited:
        raise UsageError("A correction needs another label: write it, or keep the inherited one.")
    return Mark(choice="correct", label=label, aliases=aliases, urls=urls, note=note)
