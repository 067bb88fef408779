"""One episode as a sample of an Inspect AI log: messages, tool calls, the verdict as a score."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.evals.metrics.outcomes import Outcome
from fieldmark.exporting.conversation import Done, conversations
from fieldmark.exporting.episode import Told
from fieldmark.trace import Picture, Tokens

Json = dict[str, Any]
_VALUES: dict[Outcome, str] = {
    "correct": "C", "partially_correct": "P", "incorrect": "I", "uncertain": "I", "no_answer": "N",
}  # fmt: skip
"""Inspect's letters; an episode with another outcome has no score."""
_STOPS = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "content_filter": "content_filter",
}
_ERRORS = {"invalid_args": "parsing", "timeout": "timeout", "denied": "permission"}
_SHORT = 1_000
"""Characters of a text in a summary."""


class Samples:
    """Samples of one run. Pictures are attachments: data URIs, once a sample, that messages point to."""

    def __init__(self, blobs: BlobStore, score: str) -> None:
        self._blobs = blobs
        self._score = score

    def sample(self, episode: Told) -> Json:
        """An EvalSample."""
        record, attachments = episode.record, _Attachments(self._blobs)
        asked = attachments.content(episode.question, [episode.image] if episode.image else [])
        output: Json = {"model": record.model, "choices": [], "completion": record.answer or ""}
        if record.answer is not None:
            message = {"role": "assistant", "content": record.answer, "source": "generate"}
            output["choices"] = [{"message": message, "stop_reason": "stop"}]
        used = {record.model: usage(record.tokens)} if record.tokens else {}
        return {
            "id": record.id,
            "epoch": record.epoch + 1,  # Inspect counts from 1
            "input": [{"role": "user", "content": asked, "source": "input"}],
            "target": episode.gold.answer if episode.gold else "",
            "messages": list(_messages(episode, attachments, self._blobs)),
            "output": output,
            "scores": self._scores(episode),
            "metadata": {"question": episode.question, **episode.facts()},
            "store": {},
            "events": [],
            "model_usage": used,
            "started_at": episode.when(0),
            "completed_at": episode.when(record.seconds),
            "total_time": record.seconds,
            "working_time": record.charged_seconds,
            "attachments": attachments.held,
            **_ending(episode),
        }

    def summary(self, sample: Json) -> Json:
        """An EvalSampleSummary: no pictures, short texts."""
        error = sample.get("error")
        kept = ("id", "epoch", "model_usage", "started_at", "completed_at", "total_time", "working_time")
        facts = {name: sample["metadata"].get(name) for name in ("status", "outcome")}
        return {
            **{name: sample[name] for name in kept},
            "input": sample["metadata"]["question"][:_SHORT],
            "target": sample["target"][:_SHORT],
            "scores": sample["scores"],
            "metadata": {**facts, **sample["metadata"]["labels"]},
            "completed": True,
            "message_count": len(sample["messages"]),
            **({"error": error["message"][:_SHORT]} if error else {}),
            **({"limit": sample["limit"]["type"]} if "limit" in sample else {}),
        }

    def _scores(self, episode: Told) -> Json:
        value = _VALUES.get(episode.cell.outcome)
        if value is None:
            return {}
        verdict = episode.cell.verdict
        told = verdict.model_dump(include={"label", "score", "finer", "judge"}) if verdict else {}
        return {
            self._score: {
                "value": value,
                "answer": episode.record.answer,
                "metadata": {"outcome": episode.cell.outcome, **told},
            }
        }


class _Attachments:
    """`held`: 32 hex digits → data URI."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self.held: dict[str, str] = {}

    def content(self, text: str, pictures: Sequence[Picture]) -> str | list[Json]:
        """A text, or parts where there are pictures."""
        if not pictures:
            return text
        return [*([{"type": "text", "text": text}] if text else []), *map(self._part, pictures)]

    def _part(self, picture: Picture) -> Json:
        try:
            data = self._blobs.get(picture.blob)
        except (KeyError, OSError):
            return {"type": "text", "text": f"[picture {picture.blob[:12]}: not in this copy of the run]"}
        key = hashlib.sha256(data).hexdigest()[:32]
        self.held[key] = f"data:{picture.media_type};base64,{base64.b64encode(data).decode()}"
        return {"type": "image", "image": f"attachment://{key}"}


def usage(tokens: Tokens | None) -> Json:
    """A ModelUsage, whose `input_tokens` leave out the cached ones; it knows no unknown, so that is 0."""
    known = tokens or Tokens()
    read, cached, written = known.input or 0, known.cached or 0, known.output or 0
    return {
        "input_tokens": max(0, read - cached), "output_tokens": written, "total_tokens": read + written,
        "input_tokens_cache_read": known.cached, "reasoning_tokens": known.reasoning,
    }  # fmt: skip


def _messages(episode: Told, attachments: _Attachments, blobs: BlobStore) -> Iterator[Json]:
    """The agent's own conversation; sub-agents stand in `fieldmark show` and in ATIF."""
    for number, step in enumerate(conversations(episode.events, blobs)[0].steps):
        for place, said in enumerate(step.before):
            yield {
                "id": f"{number}.{place}",
                "role": "system" if said.system else "user",
                "content": attachments.content(said.text, said.pictures),
            }
        response, thought = step.response, step.response.reasoning
        thinking = [{"type": "reasoning", "reasoning": thought}] if thought else []
        text = response.text or ""
        yield {
            "id": f"{number}.reply",
            "role": "assistant",
            "content": [*thinking, {"type": "text", "text": text}] if thinking else text,
            "tool_calls": [_call(call) for call in step.calls] or None,
            "source": "generate",
            "model": step.request.model,
            "metadata": {"event": response.seq, "finish": _STOPS.get(response.finish or "", "unknown")},
        }
        yield from (_result(call, attachments) for call in step.calls if call.result)


def _call(call: Done) -> Json:
    unread = {} if call.readable else {"parse_error": "the arguments are no JSON object"}
    return {"id": call.id, "function": call.name, "arguments": call.arguments, "type": "function", **unread}


def _result(call: Done, attachments: _Attachments) -> Json:
    result = call.result
    assert result is not None
    said = result.error or result.text
    error = {"type": _ERRORS.get(result.error_kind or "", "unknown"), "message": said}
    return {
        "id": f"result {result.seq}",
        "role": "tool",
        "tool_call_id": call.id,
        "function": call.name,
        "content": attachments.content(result.text, result.pictures),
        "metadata": {"event": result.seq, "seconds": result.seconds, "error_kind": result.error_kind},
        **({} if result.ok else {"error": error}),
    }


def _ending(episode: Told) -> Json:
    """How it ended, where it did not answer: Inspect's limit or error."""
    record, error = episode.record, episode.record.error
    if record.status == "timeout":
        return {"limit": {"type": "time", "limit": record.charged_seconds}}
    if record.status == "budget":
        return {"limit": {"type": "custom", "limit": record.counts.get("model_calls", 0)}}
    if record.status in ("agent_error", "sandbox_error"):
        told = f"{error.boundary}/{error.kind}: {error.message}" if error else record.status
        return {"error": {"message": told, "traceback": "", "traceback_ansi": ""}}
    return {}
