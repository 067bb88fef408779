"""The picture of an episode as what is searched for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.errors import ToolError
from fieldmark.trace import Box

if TYPE_CHECKING:
    from fieldmark.sandbox.gateway.session import Session


class TaskPicture:
    """The task picture, or a box of it in original pixels, cut and compared in the host's workers."""

    def __init__(self, session: Session, box: Box | None) -> None:
        self._session = session
        self._box = box

    async def jpeg(self) -> bytes:
        path = self._session.pictures.original_path
        return await self._session.backends.small_jpeg(self._session.clock, path, self._box)

    async def same(self, others: list[bytes]) -> list[bool | None]:
        backends, path = self._session.backends, self._session.pictures.original_path
        try:
            return await backends.same_picture(self._session.clock, path, self._box, others)
        except ToolError:  # a thumbnail that breaks its worker: of none is anything known
            return [None] * len(others)
