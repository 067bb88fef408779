"""One episode as a sample of an Inspect AI log: messages, tool calls, the verdict as a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fieldmark.blobs import BlobStore
from fieldmark.evals.metrics.outcomes import Outcome
from fieldmark.exporting.conversation import conversations
from fieldmark.exporting.episode import Told
from fieldmark.exporting.inspect_events import Transcript
from fieldmark.exporting.inspect_messages import Attachments, Json, Spoken, spoken, usage

_VALUES: dict[Outcome, str] = {
    "correct": "C", "partially_correct": "P", "incorrect": "I", "uncertain": "I", "no_answer": "N",
}  # fmt: skip
"""Inspect's letters; an episode with another outcome has no score."""
_SHORT = 1_000
"""Characters of a text in a summary."""


class Samples:
    """Samples of one run. Pictures are attachments: data URIs, once a sample, that messages point to."""

    def __init__(self, blobs: BlobStore, score: str) -> None:
        self._blobs = blobs
        self._score = score

    def sample(self, episode: Told) -> Json:
        """An EvalSample."""
        record, attachments = episode.record, Attachments(self._blobs)
        asked = attachments.content(episode.question, [episode.image] if episode.image else [])
        output: Json = {"model": record.model, "choices": [], "completion": record.answer or ""}
        if record.answer is not None:
            message = {"role": "assistant", "content": record.answer, "source": "generate"}
            output["choices"] = [{"message": message, "stop_reason": "stop"}]
        talks = [
            (talk, list(spoken(talk, attachments))) for talk in conversations(episode.events, self._blobs)
        ]
        transcript, scores = Transcript(episode, talks), self._scores(episode)
        target = episode.gold.answer if episode.gold else ""
        used = {record.model: usage(record.tokens)} if record.tokens else {}
        return {
            "id": record.id,
            "epoch": record.epoch + 1,  # Inspect counts from 1
            "input": [{"role": "user", "content": asked, "source": "input"}],
            "target": target,
            "messages": list(_messages(talks[0][1])),
            "output": output,
            "scores": scores,
            "metadata": {"question": episode.question, **episode.facts()},
            "store": {},
            "events": [*transcript.events, *transcript.scored(scores, target)],
            "events_data": {"messages": transcript.pool, "calls": []},
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


def _messages(steps: Sequence[Spoken]) -> Iterator[Json]:
    """The agent's own conversation; those of sub-agents stand in the events."""
    for step in steps:
        yield from (*step.before, step.reply, *step.results)


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
