"""A LangGraph graph of the user's own: run it on the question, and read its end."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.errors import GraphRecursionError

from fieldmark.agents.base import AgentStopped
from fieldmark.agents.own.asked import Asked
from fieldmark.agents.own.chain import GraphModel, GraphTool, text_of
from fieldmark.agents.own.tools import Tools
from fieldmark.counting import counted

_STEPS_PER_TURN = 3
_STEPS_AROUND = 10
_MOST_STEPS = 10_000
_AT_ONCE = 4  # nodes, so also tool calls of one turn


def end_of(graph: Any, asked: Asked, tools: Tools) -> Any:
    """Run a graph, or what a function `graph(model, tools)` builds; what it answers.

    It is given `{"messages": [the question with the picture]}`; `model`, `tools` and `prompt` are also in
    `config["configurable"]`. Its answer is the key `answer` of its end, else its last message.
    """
    model, offered = GraphModel(model=asked.model), [GraphTool.of(tool) for tool in tools]
    compiled = _compiled(graph, model, offered)
    turns = asked.limits.turns
    config = {
        "recursion_limit": _STEPS_PER_TURN * turns + _STEPS_AROUND if turns else _MOST_STEPS,
        "max_concurrency": _AT_ONCE,
        "configurable": {"model": model, "tools": offered, "prompt": asked},
    }
    try:
        end = asyncio.run(compiled.ainvoke({"messages": [_first_message(asked)]}, config))
    except GraphRecursionError:
        raise AgentStopped("max_turns", f"the graph had no answer within {counted(turns, 'turn')}") from None
    return _said(end)


def _compiled(graph: Any, model: GraphModel, tools: list[GraphTool]) -> Any:
    if callable(graph) and not hasattr(graph, "compile") and not hasattr(graph, "ainvoke"):
        graph = graph(model, tools)
    graph = graph.compile() if hasattr(graph, "compile") else graph
    if not hasattr(graph, "ainvoke"):
        raise TypeError(
            f"graph is a {type(graph).__name__}: make it a LangGraph graph, or graph(model, tools)"
        )
    return graph


def _first_message(asked: Asked) -> HumanMessage:
    return HumanMessage(content=asked.message()["content"])


def _said(end: Any) -> Any:
    if isinstance(end, dict) and "answer" in end:
        return {key: end.get(key) for key in ("answer", "confidence", "rationale")}
    messages = end.get("messages") if isinstance(end, dict) else None
    if not messages:
        raise TypeError(
            "the graph ended without messages and without an answer: keep one of them in its state"
        )
    return text_of(messages[-1].content)
