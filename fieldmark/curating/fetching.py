"""Pages of evidence fetched under the web's rules and kept: body, text, screenshot, each by its sha256."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldmark.curating.camera import Camera, NoPicture
from fieldmark.errors import ToolError
from fieldmark.evals.curation.evidence.pages import EvidencePage, problem_of
from fieldmark.sandbox.gateway.web.alone import Nobody
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import Missed, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Exchange, Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied, Policy
from fieldmark.sandbox.gateway.web.routes import described
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.tools.context import Page
from fieldmark.tools.pages.page_text import read_page
from fieldmark.whole_file import write_whole

TEXTS, SHOTS = "texts", "screenshots"


@dataclass(frozen=True)
class Web:
    """Where pages come from: the web; with `site` its pages and nothing else. `allow_local`: `host:port` that
    are reached although not public.
    """

    site: Path | None = None
    allow_local: frozenset[str] = frozenset()

    def door(self, archive: Archive) -> WebDoor:
        """Everything that comes from the web is put into `archive`. UsageError: no such site."""
        policy = Policy(allow_local=self.allow_local)
        if self.site:
            return WebDoor("offline", policy, site=Site(self.site))
        return WebDoor("record", policy, archive=archive)


class PageKeeper:
    """`folder`: a web archive, with `texts/` and `screenshots/`. Without a camera no screenshot is taken."""

    def __init__(self, archive: Archive, door: WebDoor, camera: Camera | None) -> None:
        self.folder = archive.folder
        self._archive, self._door, self._camera = archive, door, camera

    def fetch(self, url: str, names: Sequence[str]) -> EvidencePage:
        """The page as it is now, kept. `names`: the answer and its aliases."""
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        try:
            exchange = asyncio.run(self._door.fetch(Nobody(), url))
        except (Denied, Missed, Unreachable) as error:
            return EvidencePage(url=url, when=when, problem=str(error) or "cannot be reached")
        if self._door.archive is None:
            self._archive.put("GET", exchange)
        digest = hashlib.sha256(exchange.body).hexdigest()
        page = EvidencePage(url=url, final_url=exchange.url, http=exchange.http, sha256=digest, when=when)
        if (text := _text(url, exchange)) is not None:
            page.text = f"{digest}.txt"
            self._keep(TEXTS, page.text, text.encode("utf-8", errors="replace"))
        page = checked(self.folder, page, names)
        return page if page.http != 200 else self._shot(page, exchange)

    def _shot(self, page: EvidencePage, exchange: Exchange) -> EvidencePage:
        if self._camera is None:
            return page.model_copy(update={"no_screenshot": "--no-screenshots"})
        try:
            data = self._camera.shoot(exchange)
        except NoPicture as error:
            return page.model_copy(update={"no_screenshot": str(error)})
        name = f"{hashlib.sha256(data).hexdigest()}.jpg"
        self._keep(SHOTS, name, data)
        return page.model_copy(update={"screenshot": name})

    def _keep(self, kind: str, name: str, data: bytes) -> None:
        file = self.folder / kind / name
        file.parent.mkdir(exist_ok=True)
        write_whole(file, data)


def checked(folder: Path, page: EvidencePage, names: Sequence[str]) -> EvidencePage:
    """A kept page again, by the names of now: texts are kept, so a new alias needs no web."""
    if not page.http:
        return page  # it was never reached
    file = folder / TEXTS / page.text
    text = file.read_text("utf-8") if page.text and file.is_file() else None
    problem = problem_of(page.url, page.final_url, page.http, text, names)
    return page.model_copy(update={"problem": problem})


def _text(url: str, exchange: Exchange) -> str | None:
    """None: it is no page of text."""
    try:
        read = read_page(exchange.body, Page(**described(url, exchange)))
    except ToolError:
        return None
    return f"{read.title}\n{read.whole or read.text}" if read.readable else None
