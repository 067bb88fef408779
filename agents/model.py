"""ChatModel: one conversation with the run's model, over the gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldmark.agents.base import AgentStopped
from fieldmark.agents.messages import Message
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.reply import Reply, read_reply
from fieldmark.agents.wire import TOOL_PICTURES, Wire
from fieldmark.client import GatewayClient, GatewayRefused

if TYPE_CHECKING:
    from fieldmark.task import Prompt


class BudgetExhausted(AgentStopped):
    """The episode's model calls are used up."""

    def __init__(self, message: str) -> None:
        super().__init__("budget", message)


class ModelRefused(AgentStopped):
    """The model's server will not take the request (4xx); `status` is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__("model_refused", message)
        self.status = status


class ModelUnavailable(AgentStopped):
    """The gateway has no reply to give (5xx); it knows why, and the fault is not the agent's."""

    def __init__(self, message: str) -> None:
        super().__init__("model_unavailable", message)


class ChatModel:
    """Sends conversations whose pictures are references. A reply is always whole, never streamed.

    `calls` is how many requests have been sent; `most_pictures` go out at once, beside the task's.
    """

    def __init__(
        self, gateway: GatewayClient, prompt: Prompt, pictures: Pictures | None = None, *,
        most_pictures: int = TOOL_PICTURES,
    ) -> None:  # fmt: skip
        self._gateway = gateway
        self._model = prompt.model
        self._sees = prompt.sees
        self._wire = Wire(prompt, pictures or Pictures(gateway, prompt), most_pictures)
        self.calls = 0

    def chat(self, messages: list[Message], tools: list[dict[str, Any]] | None = None) -> Reply:
        """One model call. Raises BudgetExhausted, ModelRefused, ModelUnavailable, GatewayGone.

        A request that is refused for its size or its pictures is sent once more with the task picture
        alone, made smaller; the rest of the episode goes on like that.
        """
        try:
            return self._send(messages, tools)
        except ModelRefused as error:
            if self._wire.frugal or not self._sees or not _for_its_pictures(error):
                raise
            self._wire.frugal = True
            self.warn(f"request refused ({error}); sent again with a smaller picture and no others")
            return self._send(messages, tools)

    def warn(self, message: str) -> None:
        """A `log` event of level warning."""
        self._gateway.event("log", level="warning", message=message[:2000])

    def _send(self, messages: list[Message], tools: list[dict[str, Any]] | None) -> Reply:
        body: dict[str, Any] = {"model": self._model, "messages": self._wire.render(messages)}
        if tools:
            body["tools"] = tools
        self.calls += 1
        try:
            raw = self._gateway.post("/v1/chat/completions", body, timeout=None)
        except GatewayRefused as error:
            raise model_error(error) from error
        except ValueError as error:
            raise ModelUnavailable(f"the model's reply is not JSON: {error}") from error
        return read_reply(raw, f"call_{self.calls}")


def model_error(error: GatewayRefused) -> AgentStopped:
    """What a refused model call becomes: BudgetExhausted, ModelRefused or ModelUnavailable."""
    if error.kind == "budget_exhausted":
        return BudgetExhausted(str(error))
    if error.status < 500:
        return ModelRefused(error.status, f"HTTP {error.status} {error.kind}: {error}")
    return ModelUnavailable(f"HTTP {error.status} {error.kind}: {error}")


def _for_its_pictures(error: ModelRefused) -> bool:
    text = str(error).lower()
    return error.status == 413 or "image" in text or "context_length" in text
