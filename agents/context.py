"""The tools' Context of our own agents: what passes through it need not be fetched again for the model."""

from __future__ import annotations

from typing import Any

from fieldmark.agents.pictures import Pictures
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.inside import GatewayContext
from fieldmark.trace import Box, Picture


class RememberingContext(GatewayContext):
    """The tools' Context inside, for one call; the bytes that pass through it need not be fetched again for
    the model. `result_seq` is the number of the call's `tool_result` event, once it is posted.
    """

    result_seq: int | None = None

    def __init__(self, gateway: GatewayClient, prompt: Prompt, pictures: Pictures) -> None:
        numbering = "remember" in prompt.tools
        super().__init__(gateway, prompt.image, prompt.view, prompt.ocr, numbering=numbering)
        self._pictures = pictures

    def region(self, box: Box | None, **options: Any) -> tuple[bytes, Picture]:
        data, picture = super().region(box, **options)
        self._pictures.remember(picture.blob, data)
        return data, picture

    def keep(self, data: bytes, media_type: str) -> Picture:
        picture = super().keep(data, media_type)
        self._pictures.hold(picture.blob, data)
        return picture

    def emit(self, kind: str, **fields: Any) -> int | None:
        seq = self._client.event(kind, **fields)
        if kind == "tool_result":
            self.result_seq = seq
        return seq if self._numbering else None
