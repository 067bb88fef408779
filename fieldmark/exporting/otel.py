"""A run as OpenTelemetry spans, by the GenAI semantic conventions: a trace for each episode.

    invoke_agent react            the episode; its verdict is the event gen_ai.evaluation.result
      chat qwen3-vl-8b            each model call that the gateway saw, also side calls and those of the eyes
      execute_tool crop_zoom      each tool call
      execute_tool task
        invoke_agent react        a sub-agent

A line of the file is an ExportTraceServiceRequest in JSON, an episode each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldmark import __version__, jsonl
from fieldmark.clock import seconds_of
from fieldmark.exporting import otlp
from fieldmark.exporting.conversation import conversations
from fieldmark.exporting.episode import Told, told
from fieldmark.exporting.otel_attributes import agent, chat, execution
from fieldmark.exporting.otel_calls import Model, Tool, model_calls, tool_calls
from fieldmark.exporting.otel_messages import as_text
from fieldmark.exporting.otlp import Json
from fieldmark.exporting.place import new
from fieldmark.rundir import RunDir
from fieldmark.trace import ModelRequest, ToolCall

SCOPE = {"name": "fieldmark", "version": __version__}


def export_otel(run: RunDir, out: Path, *, private: bool) -> dict[str, int]:
    """Write the new file `out`; how many traces and spans."""
    config = run.config()
    benchmark = config.get("benchmark") or {}
    resource = {
        "service.name": "fieldmark",
        "service.version": __version__,
        "fieldmark.run": run.path.resolve().name,
        "fieldmark.benchmark": benchmark.get("name"),
        "fieldmark.benchmark.version": benchmark.get("version"),
    }
    count = {"traces": 0, "spans": 0}
    with new(out) as file, file.open("wb") as lines:
        for episode in told(run, private=private):
            spans = list(_Episode(run, episode, str(config.get("started"))).spans())
            lines.write(jsonl.encode(otlp.line(resource, SCOPE, spans)))
            count = {"traces": count["traces"] + 1, "spans": count["spans"] + len(spans)}
    return count


class _Episode:
    """The spans of one episode. `started`: of the run, so that no other run has the same ids."""

    def __init__(self, run: RunDir, episode: Told, started: str) -> None:
        self._episode, self._record = episode, episode.record
        self._key = Path(episode.record.trace).stem
        self._name = f"{run.path.resolve().name} {started} {self._key}"
        self._began = round(seconds_of(episode.record.started) * 1_000_000) * 1000
        talks = conversations(episode.events, run.blob_store())
        self._steps = {step.request.seq: step for talk in talks for step in talk.steps}
        self._models = list(model_calls(episode.events))
        self._tools = list(tool_calls(episode.events))
        self._threads = {model.request.call: _inside(model.request) for model in self._models}
        self._named: dict[str | None, str] = {tool.call.call: tool.name for tool in self._tools}

    def spans(self) -> Iterator[Json]:
        yield self._root()
        yield from map(self._sub_agent, dict.fromkeys(filter(None, self._threads.values())))
        yield from map(self._chat, self._models)
        yield from map(self._tool, self._tools)

    def _root(self) -> Json:
        record, error = self._record, self._record.error
        facts = self._episode.facts()
        own = {
            f"fieldmark.{name}": value
            for name, value in facts.items()
            if isinstance(value, str | int | float)
        }
        nested = {
            f"fieldmark.{name}": as_text(facts[name])
            for name in ("counts", "labels", "gold")
            if facts.get(name)
        }
        told = {**agent(record, self._key), **own, **nested, "error.type": error and error.kind}
        failed = f"{error.boundary}: {error.message}" if error else None
        return self._span(None, "agent", f"invoke_agent {record.agent}", (0, record.seconds), told,
                          error=failed, events=self._verdict())  # fmt: skip

    def _verdict(self) -> list[Json]:
        verdict = self._episode.cell.verdict
        if verdict is None:
            return []
        told = {
            "gen_ai.evaluation.name": verdict.judge,
            "gen_ai.evaluation.score.value": float(verdict.score),
            "gen_ai.evaluation.score.label": verdict.label,
        }
        return [otlp.event("gen_ai.evaluation.result", self._at(self._record.seconds), told)]

    def _sub_agent(self, thread: str) -> Json:
        inside = [model for model in self._models if _inside(model.request) == thread]
        began = next((model.request.parent_call for model in inside if model.request.parent_call), None)
        caller = next((tool.name for tool in self._tools if began and tool.call.tap == began), "agent")
        ends = [model.response.t for model in inside if model.response] or [self._record.seconds]
        told = agent(self._record, self._talk(thread), whole=False)
        times = (inside[0].request.t, max(ends))
        return self._span(caller, f"agent {thread}", f"invoke_agent {self._record.agent}", times, told)

    def _chat(self, model: Model) -> Json:
        request, response = model.request, model.response
        thread = _inside(request)
        told = chat(model, self._steps.get(request.seq), self._talk(thread))
        times = (request.t, response.t if response else self._record.seconds)
        return self._span(
            f"agent {thread}" if thread else "agent", f"model {request.seq}", f"chat {request.model}", times,
            told, kind=otlp.CLIENT, error=model.failure,
        )  # fmt: skip

    def _tool(self, tool: Tool) -> Json:
        call, result = tool.call, tool.result
        times = (call.t, result.t if result else self._record.seconds)
        name = f"execute_tool {call.name}"
        return self._span(self._around(call), tool.name, name, times, execution(tool), error=tool.failure)

    def _around(self, call: ToolCall) -> str:
        """The span it is inside of: the call around it, or the agent whose reply asked for it."""
        if call.parent in self._named:
            return self._named[call.parent]
        thread = self._threads.get((call.tap or "").rpartition(".")[0])
        return f"agent {thread}" if thread else "agent"

    def _talk(self, thread: str | None) -> str:
        """Id of a conversation."""
        return f"{self._key}/{thread}" if thread else self._key

    def _span(
        self, parent: str | None, own: str, name: str, times: tuple[float, float], told: dict[str, Any],
        *, kind: int = otlp.INTERNAL, error: str | None = None, events: list[Json] | None = None,
    ) -> Json:  # fmt: skip
        """`parent` and `own` name spans within the episode; `times` in seconds since the lease."""
        ids = (
            otlp.trace_id(self._name),
            otlp.span_id(f"{self._name} {own}"),
            otlp.span_id(f"{self._name} {parent}") if parent else None,
        )
        begin, end = map(self._at, times)
        return otlp.span(ids, name, kind, (begin, end), told, error=error, events=events)

    def _at(self, seconds: float) -> int:
        """Nanoseconds since 1970."""
        return self._began + round(max(seconds, 0) * 1e9)


def _inside(request: ModelRequest) -> str | None:
    """The thread of a sub-agent."""
    return request.thread if request.parent_thread else None
