"""A builder of real run folders, for every test of what is counted and drawn.

run = build_run("demo", sees=False)
run.task("t1", split="public", top="Nature")
run.episode("t1", verdict="correct").step(("ocr", "ok"), ("image", "not_offered")).answer("Saab 340")
folder = run.finish()
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.records import EpisodeRecord, Status, Verdict, VerdictLabel
from fieldmark.rundir import RunDir, episode_key
from fieldmark.task import Gold

TOOLS = ["answer", "crop_zoom", "ocr", "recall", "read_skill", "web_search"]
ACTIONS = {"crop_zoom", "ocr", "web_search"}
OK, FAILED, NOT_OFFERED, SILENT = "ok", "failed", "not_offered", "silent"
"""How a call ends: fine, with an error, to a tool that does not exist, without any result."""


class EpisodeBuilder:
    """One episode and its trace. Every method returns the builder."""

    def __init__(self, record: dict[str, Any], verdict: VerdictLabel | None, finer: bool) -> None:
        self.record, self.verdict, self.finer = record, verdict, finer
        self.events: list[dict[str, Any]] = []
        self._turns = 0

    def event(self, by: str, kind: str, **fields: Any) -> EpisodeBuilder:
        seq = len(self.events)
        self.events.append({"seq": seq, "t": seq / 10, "by": by, "kind": kind, **fields})
        return self

    def step(self, *calls: tuple[str, str], purpose: str = "step", call: str = "") -> EpisodeBuilder:
        """A model request, its response with tool calls (name, how it ends), and their results."""
        self._turns += purpose == "step"
        call = call or f"m{len(self.events)}"
        self.request(call, purpose=purpose)
        ids = [f"{call}-{index}" for index in range(len(calls))]
        self.response(call, [(id_, name) for id_, (name, _) in zip(ids, calls, strict=True)])
        for id_, (name, end) in zip(ids, calls, strict=True):
            if end != SILENT:
                self.tool(id_, name, model_call=id_, end=end)
        return self

    def request(
        self, call: str, *, purpose: str = "step", tools: list[str] | None = None, picture: str = "exact"
    ) -> EpisodeBuilder:
        """`picture`: how the task picture is in it, "" when it is not."""
        receipt = {"delivered": picture, "blob": "v", "width": 800, "height": 600} if picture else None
        return self.event(
            "gateway",
            "model_request",
            call=call,
            role="agent",
            purpose=purpose,
            wire="chat_completions",
            model="scripted",
            asked={},
            sent={},
            tools=TOOLS if tools is None else tools,
            messages=[f"turn-{self._turns}"],
            pictures=[],
            task_picture=receipt,
        )

    def response(self, call: str, calls: list[tuple[str, str]]) -> EpisodeBuilder:
        """`calls` are (id, name)."""
        asked = [{"id": id_, "name": name, "arguments": "{}"} for id_, name in calls]
        return self.event("gateway", "model_response", call=call, http=200, tool_calls=asked, seconds=0.5)

    def tool(
        self, call: str, name: str, *, model_call: str | None = None, end: str = OK, parent: str | None = None
    ) -> EpisodeBuilder:
        """A tool call as claimed from inside, with its result."""
        action = name if name in ACTIONS else "other"
        self.event(
            "sandbox", "tool_call", call=f"c-{call}", name=name, door="graph", action=action,
            model_call=model_call, parent=f"c-{parent}" if parent else None,
        )  # fmt: skip
        kind = {FAILED: "runtime", NOT_OFFERED: "not_found"}.get(end)
        return self.event(
            "sandbox", "tool_result", call=f"c-{call}", ok=end == OK, seconds=0.1, error_kind=kind
        )

    def answer(self, text: str) -> EpisodeBuilder:
        self.record["answer"] = text
        return self


class RunBuilder:
    """A run folder in the making, written by `finish` through `RunDir`."""

    def __init__(self, path: Path, **config: Any) -> None:
        self.folder = RunDir.create(path)
        sees = config.pop("sees", True)
        self.config: dict[str, Any] = {
            "name": path.name,
            "benchmark": {"name": "constructed", "version": "1", "tasks": 0},
            "agent": "react",
            "model": {"name": "scripted", "sees": sees},
            "tools": TOOLS,
            "state": "finished",
            "started": "2026-11-30T10:15:00Z",
            "refused": [],
            **config,
        }
        self._tasks: list[dict[str, Any]] = []
        self._gold: dict[str, Gold] = {}
        self._episodes: list[EpisodeBuilder] = []

    def task(
        self,
        task_id: str,
        *,
        split: Any = "public",
        top: Any = "Nature",
        gold: Gold | None = None,
        **labels: Any,
    ) -> RunBuilder:
        """`labels` beside split and top: mid, source, language."""
        named = {"split": split, "top": top, "mid": "(none)", "source": "(none)", "language": "en"}
        labels = {**named, **labels}
        if gold:
            self._gold[task_id] = gold
        self._tasks.append({"id": task_id, "question": "What is this?", "labels": labels, "composed": False})
        return self

    def episode(
        self,
        task_id: str,
        *,
        verdict: VerdictLabel | None = None,
        status: Status = "answered",
        epoch: int = 0,
        seconds: float = 10.0,
        charged: float | None = None,
        finer: bool = False,
    ) -> EpisodeBuilder:
        """An episode with one model request; give it acts with `step`. It has an answer if `answered`."""
        record = {
            "id": task_id,
            "epoch": epoch,
            "status": status,
            "agent": "react",
            "model": "scripted",
            "answer": "Saab 340" if status == "answered" else None,
            "seconds": seconds,
            "charged_seconds": seconds if charged is None else charged,
            "started": "2026-11-30T10:15:00Z",
            "trace": f"{episode_key(task_id, epoch)}.jsonl",
        }
        built = EpisodeBuilder(record, verdict, finer).step()
        self._episodes.append(built)
        return built

    def finish(self) -> RunDir:
        """Write everything and return the folder, ready to be read."""
        self.folder.write_config(self.config)
        made = {task["id"]: Gold(answer=f"SECRET-{task['id']}") for task in self._tasks}
        gold = {**made, **self._gold}
        self.folder.write_tasks(self._tasks, gold)
        for episode in self._episodes:
            record = EpisodeRecord.model_validate(episode.record)
            pending = self.folder.pending_trace(record.id, record.epoch, record.attempt)
            jsonl.write_all(pending, episode.events)
            self.folder.commit(record, pending)
            if episode.verdict:
                self.folder.add_verdict(_verdict(episode, episode.verdict))
        return self.folder


def _verdict(episode: EpisodeBuilder, label: VerdictLabel) -> Verdict:
    score = {"correct": 1.0, "partially_correct": 0.5}.get(label, 0.0)
    return Verdict(
        id=episode.record["id"],
        epoch=episode.record["epoch"],
        label=label,
        score=score,
        judge="exact",
        finer=episode.finer,
        reason="SECRET-reason",
    )


BuildRun = Callable[..., RunBuilder]


@pytest.fixture
def build_run(tmp_path: Path) -> BuildRun:
    """`build_run(name="run", **config)` starts a run folder under the test's own folder."""

    def build(name: str = "run", **config: Any) -> RunBuilder:
        return RunBuilder(tmp_path / name, **config)

    return build
