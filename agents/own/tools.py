"""Tools: what a run offers, as an agent of the user's own calls it. Every call is recorded."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fieldmark.agents.acting import Acting
from fieldmark.agents.context import RememberingContext
from fieldmark.agents.messages import Message, Part, picture_part
from fieldmark.agents.pictures import Pictures
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.base import Tool, ToolResult, schema
from fieldmark.tools.calling import call_tool
from fieldmark.trace import CallRequest, Picture


class ResultPicture:
    """A picture that a tool returned; `box` is what it shows of the original, in its pixels."""

    def __init__(self, picture: Picture, pictures: Pictures) -> None:
        self.width, self.height = picture.width, picture.height
        self.media_type = picture.media_type
        self.box = picture.box
        self.part: Part = picture_part(picture)
        self._pictures = pictures

    def data_uri(self) -> str:
        """As models take pictures; `part` says the same in a message for `model.chat`, by reference."""
        return self._pictures.data_uri(self.part)

    def bytes(self) -> bytes:
        return base64.b64decode(self.data_uri().partition(",")[2])


@dataclass(frozen=True)
class Result:
    """What came of a call. `text` is what models read; `data` the same for programs, where a tool has it.

    `ok` is false when the tool could not do its job; `text` then says why.
    """

    text: str
    data: Any
    ok: bool
    pictures: list[ResultPicture]

    def __str__(self) -> str:
        return self.text


class OfferedTool:
    """One tool, called like a function: `tools["ocr"](mode="registration")`.

    `parameters` is the JSON schema of its arguments, `schema` the whole as an OpenAI function.
    """

    def __init__(self, tool: Tool, context: RememberingContext, pictures: Pictures) -> None:
        self.schema = schema(tool)
        self.name = tool.name
        self.description = tool.description
        self.parameters: dict[str, Any] = self.schema["function"]["parameters"]
        self._tool = tool
        self._context = context
        self._pictures = pictures

    def __call__(self, **arguments: Any) -> Result:
        """Call it. A tool that fails, or does not take the arguments, says so in the result."""
        return self.read(self.carry_out(arguments))

    def carry_out(self, arguments: str | dict[str, Any], model_call: str | None = None) -> ToolResult:
        """Call it with arguments as a model wrote them, in the call `model_call` of its reply."""
        return call_tool(self._tool, arguments, self._context, door="graph", model_call=model_call)

    def read(self, result: ToolResult) -> Result:
        shown = [ResultPicture(picture, self._pictures) for picture in result.pictures]
        return Result(result.for_model(), result.data, result.ok, shown)


class Tools(Sequence[OfferedTool]):
    """The tools of a run, by their place or their name."""

    def __init__(
        self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool], pictures: Pictures
    ) -> None:
        context = RememberingContext(gateway, prompt, pictures)
        self._tools = {tool.name: OfferedTool(tool, context, pictures) for tool in tools}
        self._acting = Acting(prompt, gateway, tools, pictures)
        self._turns = itertools.count(1)

    @property
    def names(self) -> list[str]:
        return list(self._tools)

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """All of them as OpenAI functions."""
        return [tool.schema for tool in self]

    def carry_out(self, calls: Sequence[CallRequest]) -> list[Message]:
        """Make the calls of a model's reply, in their order; the messages to go on with.

        A wrong name and broken arguments are answered, and recorded, like any other call.
        """
        turn = next(self._turns)
        done = [self._acting.run(turn, place, call) for place, call in enumerate(calls)]
        return self._acting.messages(done)

    def __getitem__(self, key: int | str) -> OfferedTool:  # type: ignore[override]
        if isinstance(key, int):
            return list(self._tools.values())[key]
        if key not in self._tools:
            raise KeyError(
                f"no tool named {key!r} is offered; the tools are {', '.join(self._tools) or 'none'}"
            )
        return self._tools[key]

    def __contains__(self, key: object) -> bool:
        return key in self._tools or key in self._tools.values()

    def __iter__(self) -> Iterator[OfferedTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
