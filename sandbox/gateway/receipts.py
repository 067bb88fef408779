"""The pixel receipt: how the task picture stood in a request to a model.

Its own bytes are known by their sha256, cuts that the gateway made by what was cut. Only a picture that
somebody else wrote (many frameworks re-encode what they send) is decoded, in a worker process, and once.
"""

from __future__ import annotations

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import Picture, Receipt

MAX_LOOKS = 30
"""Pictures of one episode that are decoded to see whether they are the task's."""
MIN_SIDE, MAX_PIXELS = 16, 50_000_000
_ROUNDING = 2
"""Pixels by which a side may differ from what the shape of the picture makes of the other one."""


def known_receipt(session: Session, pictures: list[Picture]) -> Receipt | None:
    """The best receipt that can be given without decoding anything."""
    found = [receipt for picture in pictures if (receipt := _known(session, picture))]
    return min(found, key=_rank, default=None)


async def look(session: Session, pictures: list[Picture]) -> Receipt | None:
    """Decode what may be the task picture and is not known yet; the best receipt then."""
    for picture in pictures:
        if picture.blob in session.looked_at or not _may_be(picture, session.prompt.view):
            continue
        if len(session.looked_at) >= MAX_LOOKS:
            break
        with session.clock.waiting():  # the look is ours, not the agent's
            session.looked_at[picture.blob] = await _is_view(session, picture)
    return known_receipt(session, pictures)


async def _is_view(session: Session, picture: Picture) -> bool:
    data = await session.in_thread(session.blobs.get, picture.blob)
    try:
        return await session.backends.same_view(session.clock, session.pictures.view, data)
    except ToolError:  # a picture that breaks its worker
        return False


def _known(session: Session, picture: Picture) -> Receipt | None:
    own = session.prompt.image
    gallery = session.table.shown if session.table else ()
    if picture.blob in (session.prompt.view.blob, own.blob) or picture.blob in gallery:
        return _receipt("exact", picture)
    whole = picture.box is None or picture.box == (0, 0, own.width, own.height)
    if picture.of == own.blob:
        return _receipt("resampled", picture) if whole and not picture.rotate else None
    return _receipt("resampled", picture) if session.looked_at.get(picture.blob) else None


def _receipt(delivered: str, picture: Picture) -> Receipt:
    row = {"delivered": delivered, "blob": picture.blob, "width": picture.width, "height": picture.height}
    return Receipt.model_validate(row)


def _rank(receipt: Receipt) -> tuple[bool, int]:
    return receipt.delivered != "exact", -receipt.width * receipt.height


def _may_be(picture: Picture, view: Picture) -> bool:
    """By its header: no cut of ours, of a size that is decoded, and of the shape of the view."""
    small, large = sorted((picture.width, picture.height))
    if picture.of is not None or small < MIN_SIDE or small * large > MAX_PIXELS:
        return False
    view_small, view_large = sorted((view.width, view.height))
    return abs(small - large * view_small / view_large) <= _ROUNDING
