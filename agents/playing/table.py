"""The host's game as an agent inside sees it: messages with pictures, one text after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldmark.agents.messages import Message, picture_part, text_part, user
from fieldmark.agents.pictures import Pictures
from fieldmark.client import GatewayClient
from fieldmark.trace import Picture


@dataclass(frozen=True)
class Told:
    """One message of the host. `numbers`: the place in the gallery of each of `pictures`, from 1."""

    text: str
    pictures: list[Picture]
    numbers: list[int]
    over: bool
    guess: int | None

    @property
    def message(self) -> Message:
        """As the player's model gets it, each picture under its number."""
        shown = []
        for number, picture in zip(self.numbers, self.pictures, strict=True):
            shown += [text_part(f"Picture {number}:"), picture_part(picture)]
        return user(*shown, text_part(self.text))


class Table:
    """`gallery`: the bytes of each picture that was shown, by its number."""

    def __init__(self, gateway: GatewayClient, pictures: Pictures) -> None:
        self._gateway = gateway
        self._pictures = pictures
        self.gallery: dict[int, bytes] = {}

    def begin(self) -> Told:
        return self._told(self._gateway.get("/turn").json())

    def say(self, text: str) -> Told:
        """The host's reply; it takes as long as its referees do."""
        return self._told(self._gateway.post("/turn", {"text": text}, timeout=None))

    def _told(self, reply: Any) -> Told:
        pictures = [Picture.model_validate(row) for row in reply["pictures"]]
        told = Told(reply["text"], pictures, reply["numbers"], reply["over"], reply["guess"])
        for number, picture in zip(told.numbers, told.pictures, strict=True):
            data = self._gateway.get(f"/turn/picture?blob={picture.blob}").body
            self.gallery[number] = data
            self._pictures.hold(picture.blob, data)
        return told
