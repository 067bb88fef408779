"""The exam's web app: one page, and what it sends. It knows public rows and pictures, and no gold.

GET /  /picture/<sha256>   POST /begin  /draft  /answer
"""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fieldmark.blobs import BlobStore
from fieldmark.errors import UsageError
from fieldmark.evals.inspector.app import STATIC
from fieldmark.evals.inspector.blobs import served
from fieldmark.evals.inspector.forms import form_of
from fieldmark.evals.inspector.pages.rendering import render_in
from fieldmark.evals.inspector.security import Door, Guard, is_own_form
from fieldmark.exam import sheet
from fieldmark.exam.desk import Draft
from fieldmark.exam.sitting import NotOpen, Sitting

HERE = Path(__file__).parent


def make_app(sitting: Sitting, blobs: BlobStore, door: Door) -> Starlette:
    """`door`: who may come in."""
    pages = Pages(sitting, blobs)
    routes = [
        Route("/", pages.page),
        Route("/picture/{digest}", pages.picture),
        Route("/begin", pages.begin, methods=["POST"]),
        Route("/draft", pages.draft, methods=["POST"]),
        Route("/answer", pages.answer, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/exam", StaticFiles(directory=HERE / "static")),
    ]
    guard = Middleware(Guard, hosts=door.hosts, token=door.token)
    return Starlette(routes=routes, middleware=[guard], exception_handlers={OSError: _unwritable})


class Pages:
    """Each address's answer."""

    def __init__(self, sitting: Sitting, blobs: BlobStore) -> None:
        self._sitting, self._blobs = sitting, blobs

    def page(self, request: Request) -> Response:
        self._sitting.tick()
        return self._shown()

    def picture(self, request: Request) -> Response:
        """The original of the open question: no other picture of the exam can be looked at."""
        digest, question = request.path_params["digest"], self._sitting.question
        if question is None or self._sitting.tasks[question.id]["image"]["blob"] != digest:
            raise HTTPException(404, "this is not the picture of the open question")
        found = served(self._blobs, digest)
        if found is None:
            raise HTTPException(404, "the run has lost this picture")
        return Response(found.data, media_type=found.media_type)

    async def begin(self, request: Request) -> Response:
        await self._form(request)
        await run_in_threadpool(self._sitting.begin)
        return RedirectResponse("/", 303)

    async def draft(self, request: Request) -> Response:
        form = await self._form(request)
        try:
            await run_in_threadpool(self._sitting.keep, _number(form), sheet.drafted(form))
        except NotOpen:
            raise HTTPException(409, "this question is over") from None
        return Response(status_code=204)

    async def answer(self, request: Request) -> Response:
        """Handed in; one that came too late, or twice, changes nothing and shows where the exam is."""
        form = await self._form(request)
        number, draft = _number(form), sheet.drafted(form)
        try:
            await run_in_threadpool(self._sitting.keep, number, draft)
            await run_in_threadpool(self._sitting.hand_in, number, sheet.read(form))
        except UsageError as error:
            return self._shown(str(error))
        except NotOpen:
            pass
        return RedirectResponse("/", 303)

    async def _form(self, request: Request) -> dict[str, str]:
        form = await form_of(request, "an answer: shorten the notes")
        if not is_own_form(request, form.get("token", ""), self._sitting.token):
            raise HTTPException(403, "not a form of this exam: open its page anew and send it from there")
        return form

    def _shown(self, wrong: str = "") -> Response:
        sitting = self._sitting
        question = sitting.question
        page = render_in(
            HERE, "page.html.j2", sitting=sitting, wrong=wrong, unknown=sheet.UNKNOWN,
            task=sitting.tasks[question.id] if question else None,
            draft=question.draft if question else Draft(),
        )  # fmt: skip
        return HTMLResponse(page, 422 if wrong else 200)


def _number(form: dict[str, str]) -> int:
    given = form.get("number", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def _unwritable(request: Request, error: Exception) -> Response:
    told = "What was handed in before is safe: make room and send this again."
    return PlainTextResponse(f"the exam cannot be written: {error}. {told}", 500)
