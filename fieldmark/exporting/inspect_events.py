"""The transcript of an Inspect AI sample: spans of the agent and its sub-agents, model and tool events.

A model event names its input by places in the sample's pool of messages (`events_data`), so that a long
conversation is written once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fieldmark.exporting.conversation import Conversation, Done
from fieldmark.exporting.episode import Told
from fieldmark.exporting.inspect_messages import Json, Spoken, stop_reason, tool_error, usage

_AGENT = "agent"
"""Id of the agent's own span; a sub-agent's has its thread."""


class Transcript:
    """`events` in order of time, `pool` the messages that they point to."""

    def __init__(self, episode: Told, talks: Sequence[tuple[Conversation, Sequence[Spoken]]]) -> None:
        """`talks`: the agent's own conversation first, each with its steps as messages."""
        self._episode = episode
        self._began = {talk.began: _span(talk) for talk, steps in talks if talk.began and steps}
        self.pool: list[Json] = []
        timed = [each for talk, steps in talks for each in self._conversation(talk, steps)]
        ordered = sorted(timed, key=lambda each: each[0])
        self.events = [{**event, "uuid": f"event {place}"} for place, (_, event) in enumerate(ordered)]

    def scored(self, scores: Json, target: str) -> list[Json]:
        """A score event for each score, at the end of the episode."""
        at = self._event("score", self._episode.record.seconds, None)
        return [
            {**at, "uuid": f"score {name}", "score": score, "scorer": name, "target": target}
            for name, score in scores.items()
        ]

    def _conversation(self, talk: Conversation, steps: Sequence[Spoken]) -> Iterator[tuple[float, Json]]:
        """With the seconds since the lease; of two at the same time the first comes first."""
        span, name = _span(talk), self._episode.record.agent
        if not steps:
            return
        first, last = steps[0].step.request.t, steps[-1].step.response.t
        inside = {"parent_id": _AGENT, "name": f"{name} {talk.thread}"} if talk.thread else {"name": name}
        begin = self._event("span_begin", first, span)
        yield first, {**begin, "id": span, "type": "agent", **inside}
        start = len(self.pool)
        for spoken in steps:
            self.pool += spoken.before
            yield spoken.step.request.t, self._model(spoken, span, start)
            self.pool += [spoken.reply, *spoken.results]
            for call in spoken.step.calls:
                if call.result:
                    begun = max(call.result.t - call.result.seconds, spoken.step.response.t)
                    last = max(last, call.result.t)
                    yield begun, self._tool(call, begun, span, spoken.results)
        yield last, {**self._event("span_end", last, span), "id": span}

    def _model(self, spoken: Spoken, span: str, start: int) -> Json:
        request, response = spoken.step.request, spoken.step.response
        choice = {"message": spoken.reply, "stop_reason": stop_reason(spoken.step)}
        output = {"model": request.model, "choices": [choice], "time": response.seconds}
        return {
            **self._event("model", request.t, span),
            "model": request.model,
            "input": [],
            "input_refs": [[start, len(self.pool)]],
            "tools": [{"name": name, "description": ""} for name in request.tools],
            "tool_choice": "auto",
            "config": {},
            "output": {**output, **({"usage": usage(response.tokens)} if response.tokens else {})},
            "error": response.error,
            "completed": self._episode.when(response.t),
            "working_time": response.seconds,
            "metadata": {"event": response.seq},
        }

    def _tool(self, call: Done, begun: float, span: str, results: Sequence[Json]) -> Json:
        result, error = call.result, tool_error(call)
        assert result is not None
        message = next(each for each in results if each["metadata"]["event"] == result.seq)
        sub = self._began.get(call.tap)
        return {
            **self._event("tool", begun, span),
            "type": "function",
            "id": call.id,
            "function": call.name,
            "arguments": call.arguments,
            "result": message["content"],
            "completed": self._episode.when(result.t),
            "working_time": result.seconds,
            "message_id": message["id"],
            "metadata": {"event": result.seq},
            **({"error": error} if error else {}),
            **({"agent": call.name, "agent_span_id": sub} if sub else {}),
        }

    def _event(self, kind: str, t: float, span: str | None) -> Json:
        """`t`: seconds since the lease."""
        return {
            "event": kind,
            "span_id": span,
            "timestamp": self._episode.when(max(t, 0)),
            "working_start": max(t, 0),
        }


def _span(talk: Conversation) -> str:
    return talk.thread or _AGENT
