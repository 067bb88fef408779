"""Google Lens: what is searched for, and which hits are that very picture."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from fieldmark.sandbox.gateway.web.door import Ledger, Missed, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied


class Subject(Protocol):
    """The picture that is searched for: the task's, or a box of it."""

    async def jpeg(self) -> bytes:
        """The copy that is sent: no metadata, at most MAX_UPLOAD bytes. ToolError."""

    async def same(self, others: list[bytes]) -> list[bool | None]:
        """Whether each of these files is the same picture, by perceptual hash; None: it cannot be read."""


async def mark_same(hits: list[dict[str, Any]], subject: Subject, web: WebDoor, session: Ledger) -> None:
    """Set `same_picture` of each hit by its thumbnail; None where that cannot be fetched or read."""
    found = await asyncio.gather(*(_thumbnail(hit["thumbnail"], web, session) for hit in hits))
    pictures = [data for data in found if data]
    verdicts = iter(await subject.same(pictures) if pictures else [])
    for hit, data in zip(hits, found, strict=True):
        hit["same_picture"] = next(verdicts) if data else None


async def _thumbnail(url: str, web: WebDoor, session: Ledger) -> bytes | None:
    """Its bytes, under the same policy as any page; None without."""
    if not url:
        return None
    try:
        page = await web.fetch(session, url)
    except (Denied, Missed, Unreachable):
        return None
    return page.body if page.http == 200 and not page.truncated else None
