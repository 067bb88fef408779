"""Trajectories in ATIF, the Agent Trajectory Interchange Format of Harbor (its RFC 0001).

    <episode>.json  images/<sha256>.<ext>

Version 1.7: a step is one message or one reply with the results of its calls; sub-agents are embedded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fieldmark import __version__, jsonl
from fieldmark.blobs import BlobStore
from fieldmark.exporting.conversation import Conversation, Done, Said, Step, conversations
from fieldmark.exporting.episode import Told, told
from fieldmark.exporting.place import new
from fieldmark.rundir import RunDir
from fieldmark.trace import ModelRequest, Picture, Tokens

VERSION = "ATIF-v1.7"
NOTES = (
    "Made by fieldmark from what the gateway saw. Side calls (titles, summaries) and replies for which the"
    " framework had no use are no steps, but are in the totals. Times are `started` plus those of the events."
)
_IMAGES = "images"
_MEDIA_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
Json = dict[str, Any]


def export_atif(run: RunDir, out: Path, *, private: bool) -> int:
    """One trajectory for each episode in the new folder `out`; how many."""
    count = 0
    with new(out) as folder:
        (folder / _IMAGES).mkdir(parents=True)
        images = _Images(run.blob_store(), folder / _IMAGES)
        for episode in told(run, private=private):
            made = _Trajectory(run, episode, images).root()
            (folder / Path(episode.record.trace).with_suffix(".json").name).write_bytes(jsonl.encode(made))
            count += 1
    return count


class _Images:
    """The pictures of the export, each once."""

    def __init__(self, blobs: BlobStore, folder: Path) -> None:
        self._blobs = blobs
        self._folder = folder

    def part(self, picture: Picture) -> Json:
        """A content part; text where the picture is not here, or of a kind that ATIF does not know."""
        try:
            path = self._blobs.path(picture.blob)
        except KeyError:
            return _text(f"[picture {picture.blob[:12]}: not in this copy of the run]")
        if picture.media_type not in _MEDIA_TYPES:
            return _text(f"[picture {picture.blob[:12]}: {picture.media_type}]")
        if not (self._folder / path.name).exists():
            shutil.copyfile(path, self._folder / path.name)
        source = {"media_type": picture.media_type, "path": f"{_IMAGES}/{path.name}"}
        return {"type": "image", "source": source}

    def content(self, text: str, pictures: Sequence[Picture]) -> str | list[Json]:
        """A text, or parts where there are pictures."""
        if not pictures:
            return text
        return [*([_text(text)] if text else []), *map(self.part, pictures)]


class _Trajectory:
    """One episode in the making."""

    def __init__(self, run: RunDir, episode: Told, images: _Images) -> None:
        self._run, self._episode, self._images = run, episode, images
        own, *self._subs = conversations(episode.events, run.blob_store())
        self._own = own
        self._key = Path(episode.record.trace).stem
        self._session = f"{run.path.resolve().name}/{self._key}"

    def root(self) -> Json:
        record = self._episode.record
        made = self._made(self._own, self._key)
        subs = [self._made(sub, f"{self._key}/{sub.thread}") for sub in self._subs if sub.steps]
        return {
            **made,
            "notes": NOTES,
            "final_metrics": _without_none(
                {
                    **_tokens(record.tokens, "total_"),
                    "total_cost_usd": record.cost,
                    "total_steps": len(made["steps"]),
                }
            ),
            "extra": {"fieldmark": self._episode.facts()},
            **({"subagent_trajectories": subs} if subs else {}),
        }

    def _made(self, conversation: Conversation, trajectory_id: str) -> Json:
        steps = list(self._steps(conversation))
        if not steps:  # it broke before the model said anything: ATIF wants one step
            image = self._episode.image
            question = self._images.content(self._episode.question, [image] if image else [])
            steps = [{"source": "user", "message": question}]
        numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
        agent = self._agent(conversation.steps[0].request if conversation.steps else None)
        return {
            "schema_version": VERSION,
            "session_id": self._session,
            "trajectory_id": trajectory_id,
            "agent": agent,
            "steps": numbered,
        }

    def _agent(self, request: ModelRequest | None) -> Json:
        record, tools = self._episode.record, None
        if request and request.tools_blob:
            try:
                tools = json.loads(self._run.blob_store().get_text(request.tools_blob))
            except (KeyError, OSError, ValueError):
                tools = None
        listed = tools if isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools) else None
        agent = {"name": record.agent, "version": __version__, "model_name": record.model}
        return _without_none({**agent, "tool_definitions": listed})

    def _steps(self, conversation: Conversation) -> Iterator[Json]:
        for step in conversation.steps:
            yield from (self._said(said, step) for said in step.before)
            yield self._reply(step)

    def _said(self, said: Said, step: Step) -> Json:
        message = self._images.content(said.text, said.pictures)
        source = "system" if said.system else "user"
        return {"source": source, "timestamp": self._episode.when(step.request.t), "message": message}

    def _reply(self, step: Step) -> Json:
        response = step.response
        results = [self._result(call) for call in step.calls if call.result]
        metrics = _tokens(response.tokens, "")
        model = step.request.model
        return _without_none(
            {
                "source": "agent",
                "timestamp": self._episode.when(response.t),
                "message": response.text or "",
                "model_name": model if model != self._episode.record.model else None,
                "reasoning_content": response.reasoning,
                "tool_calls": [_call(call) for call in step.calls] or None,
                "observation": {"results": results} if results else None,
                "metrics": metrics or None,
                "llm_call_count": 1,
                "extra": {
                    "event": response.seq,
                    "finish": response.finish,
                    "seconds": response.seconds,
                    "error": response.error,
                },
            }
        )

    def _result(self, call: Done) -> Json:
        result = call.result
        assert result is not None
        text = result.text or ("" if result.ok else result.error or "")
        extra = {
            "event": result.seq,
            "ok": result.ok,
            "seconds": result.seconds,
            "error_kind": result.error_kind,
        }
        places = {
            "pictures": [picture.model_dump(mode="json", exclude_none=True) for picture in result.pictures],
            "regions": [region.model_dump(mode="json", exclude_none=True) for region in result.regions],
        }
        began = [
            {"trajectory_id": f"{self._key}/{sub.thread}", "session_id": self._session}
            for sub in self._subs
            if sub.began == call.tap and sub.steps
        ]
        return _without_none(
            {
                "source_call_id": call.id,
                "content": self._images.content(text, result.pictures),
                "subagent_trajectory_ref": began or None,
                "extra": {**extra, **{name: value for name, value in places.items() if value}},
            }
        )


def _call(call: Done) -> Json:
    unread = {} if call.readable else {"extra": {"readable": False}}
    return {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments, **unread}


def _tokens(tokens: Tokens | None, prefix: str) -> Json:
    if tokens is None:
        return {}
    names = {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "cached_tokens": tokens.cached,
    }
    return {f"{prefix}{name}": value for name, value in names.items() if value is not None}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _without_none(row: Json) -> Json:
    return {key: value for key, value in row.items() if value is not None}
