"""The run's model and tools as LangChain has them, and LangChain's messages as ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from fieldmark.agents.messages import Message, is_picture, text_part, user
from fieldmark.agents.own.tools import OfferedTool
from fieldmark.tools.arguments import parsed, readable

UNREADABLE = "unreadable"
"""The argument that stands for arguments that are no JSON; the tool says so to the model."""


class GraphModel(BaseChatModel):
    """The run's model, for graphs; `bind_tools` offers it tools."""

    model: Any

    @property
    def _llm_type(self) -> str:
        return "fieldmark"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """The model with tools that it may call: ours, or any that LangChain knows the schema of."""
        schemas = [
            tool.tool.schema if isinstance(tool, GraphTool) else convert_to_openai_tool(tool)
            for tool in tools
        ]
        return self.bind(tools=schemas)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = self.model.chat(_wire(messages), kwargs.get("tools"))
        calls = [
            {"name": call.name, "args": _arguments(call.arguments), "id": call.id, "type": "tool_call"}
            for call in reply.tool_calls
        ]
        message = AIMessage(content=reply.text, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


class GraphTool(BaseTool):
    """A tool of the run, for graphs. It checks and records its calls itself; its pictures are shown too."""

    tool: Any

    @classmethod
    def of(cls, tool: OfferedTool) -> GraphTool:
        return cls(name=tool.name, description=tool.description, args_schema=tool.parameters, tool=tool)

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """With a model's call: a ToolMessage. With the arguments alone: the text."""
        call = input if isinstance(input, dict) and input.get("type") == "tool_call" else None
        given = call["args"] if call else input
        given = given[UNREADABLE] if isinstance(given, dict) and set(given) == {UNREADABLE} else given
        result = self.tool.carry_out(given, call and call["id"])
        if call is None:
            return result.for_model()
        return ToolMessage(
            result.for_model(), artifact=[picture.part for picture in self.tool.read(result).pictures],
            tool_call_id=call["id"], name=self.name, status="success" if result.ok else "error",
        )  # fmt: skip

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        return await asyncio.to_thread(self.invoke, input, config)

    def _run(self, **arguments: Any) -> str:
        return str(self.tool(**arguments))


def _wire(messages: Sequence[BaseMessage]) -> list[Message]:
    """In the Chat Completions format. Pictures of tools follow the results, in one message of a user."""
    said: list[Message] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            said.append(_result(message))
            waiting += _shown(message)
            continue
        said += [user(*waiting)] if waiting else []
        waiting = []
        said.append(_spoken(message))
    return [*said, user(*waiting)] if waiting else said


def _result(message: ToolMessage) -> Message:
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text_of(message.content)}


def _shown(message: ToolMessage) -> list[dict[str, Any]]:
    """Each picture of a result of our tools, and before it whose it is."""
    about = text_part(f"Picture returned by {message.name} (call {message.tool_call_id}):")
    parts = message.artifact if isinstance(message.artifact, list) else []
    return [part for picture in parts if is_picture(picture) for part in (about, picture)]


def _pictures(message: BaseMessage) -> list[dict[str, Any]]:
    parts = message.content if isinstance(message.content, list) else []
    return [part for part in parts if isinstance(part, dict) and is_picture(part)]


def _spoken(message: BaseMessage) -> Message:
    if not _pictures(message):
        plain: Message = convert_to_openai_messages(message)
        return plain
    parts = [text_part(part) if isinstance(part, str) else part for part in message.content]
    return {"role": "assistant" if message.type == "ai" else "user", "content": parts}


def text_of(content: Any) -> str:
    """The texts of a message's content, without its pictures."""
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else str(part.get("text") or "") for part in parts]
    return "\n".join(text for text in texts if text)


def _arguments(text: str) -> dict[str, Any]:
    return parsed(text) if readable(text) else {UNREADABLE: text}
