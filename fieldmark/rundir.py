"""The run folder as its runner holds it: made, locked, written and repaired.

Commit of an episode: fsync its trace, rename it into place, fsync that folder, one `write()` to
`episodes.jsonl`, fsync.
A kill at any moment loses at most the episodes in flight.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.findings import FailureMark, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, GameRow, JudgeUse, Leak, Verdict
from fieldmark.run_reader import LOCK, STUDY_JSON, RunReader
from fieldmark.task import Gold
from fieldmark.whole_file import flush_name, write_whole

RUN_VERSION = 1
_LOOKS, _LOOK = 5, 0.02
"""How often, and after how many seconds, a held lock is tried: who only asks holds it for an instant."""


def episode_key(task_id: str, epoch: int = 0) -> str:
    """A file name for an episode: slug + 8 hex of sha256(id), so that any id is safe and unique."""
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", task_id)[:40].strip("-") or "task"
    key = f"{slug}-{hashlib.sha256(task_id.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return f"{key}-e{epoch}" if epoch else key


def hold(folder: Path) -> int:
    """Lock a folder for this process; the descriptor that holds it. UsageError: another process has it."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    for _ in range(_LOOKS):
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        time.sleep(_LOOK)
    os.close(lock)
    raise UsageError(f"another fieldmark process is writing {folder}: wait for it or stop it")


class RunDir(RunReader):
    """An existing run folder. Reading needs no lock; only the runner holds `lock()` and writes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._lock: int | None = None

    @classmethod
    def create(cls, path: Path) -> RunDir:
        """Make an empty run folder; UsageError when it cannot be written or already holds a run."""
        run = cls(path)
        if run.run_json.exists():
            raise UsageError(
                f"{path} already holds a run: continue it with --resume {path}, or name another --out"
            )
        try:
            for folder in (run.traces, run.blobs, run.private):
                folder.mkdir(parents=True, exist_ok=True)
            run.private.chmod(0o700)
        except OSError as error:
            raise UsageError(
                f"cannot write to {path}: {error.strerror}; name a writable folder with --out"
            ) from None
        return run

    @classmethod
    def open(cls, path: Path) -> RunDir:
        """An existing run; UsageError when there is none, or when a newer fieldmark wrote it."""
        run = cls(path)
        if (path / STUDY_JSON).exists():
            raise UsageError(
                f"{path} is a study: name a run in it, or go on with its own `fieldmark run` command"
            )
        if not run.run_json.exists():
            raise UsageError(f"{path} is not a run folder (no run.json): name one made by `fieldmark run`")
        version = run.config().get("run_version")
        if not isinstance(version, int):
            raise UsageError(f"{run.run_json} does not describe a run: restore it or start a new run")
        if version > RUN_VERSION:
            raise UsageError(
                f"{path} was written by a newer fieldmark (run version {version}): open it with that"
            )
        return run

    def lock(self) -> None:
        """Hold the folder for this process until it ends; a second runner gets a UsageError."""
        self._lock = hold(self.path)

    def unlock(self) -> None:
        """Let another runner have the folder before this process ends."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write_config(self, config: dict[str, Any]) -> None:
        told = jsonl.finite({"run_version": RUN_VERSION, **config})
        text = json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)
        write_whole(self.run_json, f"{text}\n".encode("utf-8", "replace"))

    def write_paths(self, paths: dict[str, Any]) -> None:
        """Where things lie on this machine: needed to go on with the run, and nobody else's business."""
        write_whole(self.paths_file, json.dumps(paths).encode("utf-8", "replace"))

    def write_tasks(self, public: list[dict[str, Any]], gold: dict[str, Gold]) -> None:
        """`public` rows may be published; gold goes to the private part."""
        jsonl.write_all(self.tasks_file, public)
        rows = [{"id": task_id, **item.model_dump()} for task_id, item in gold.items()]
        jsonl.write_all(self.gold_file, rows)

    def pending_trace(self, task_id: str, epoch: int, attempt: int) -> Path:
        """Where the trace of an attempt in flight is written."""
        return self.traces / f".{episode_key(task_id, epoch)}.a{attempt}.jsonl"

    def commit(self, record: EpisodeRecord, pending: Path) -> None:
        """Make one finished episode part of the run. OSError (disk) leaves it uncommitted."""
        with pending.open("rb") as file:
            os.fsync(file.fileno())
        pending.replace(self.traces / record.trace)
        flush_name(self.traces / record.trace)
        for earlier in range(record.attempt):
            self.pending_trace(record.id, record.epoch, earlier).unlink(missing_ok=True)
        jsonl.append(self.episodes_file, record.model_dump(mode="json", exclude_none=True))

    def add_verdict(self, verdict: Verdict) -> None:
        """Append a verdict; its reason, which can quote gold, goes to the private part."""
        public = verdict.model_dump(mode="json", exclude={"reason"}, exclude_none=True)
        if verdict.reason:
            private = {
                "id": verdict.id,
                "epoch": verdict.epoch,
                "judge": verdict.judge,
                "reason": verdict.reason,
            }
            jsonl.append(self.reasons_file, private, durable=False)
        jsonl.append(self.verdicts_file, public)

    def add_unjudged(
        self, record: EpisodeRecord, judge: str, why: str, reply: str, use: JudgeUse | None
    ) -> None:
        """Append why there is no verdict; the judge's reply can quote gold, so it is private."""
        row = {"id": record.id, "epoch": record.epoch, "judge": judge, "why": why, "reply": reply}
        row |= {"use": use.model_dump(mode="json", exclude_none=True)} if use else {}
        jsonl.append(self.unjudged_file, row, durable=False)

    def add_leak(self, leak: Leak, reason: str | None) -> None:
        """Append what was found of an episode; the reason names gold, so it goes to the private part."""
        if reason:
            private = {"id": leak.id, "epoch": leak.epoch, "reason": reason}
            jsonl.append(self.leak_reasons_file, private, durable=False)
        jsonl.append(self.leaks_file, leak.model_dump(mode="json"), durable=False)

    def add_facts(self, facts: TraceFacts, gold: GoldFacts | None) -> None:
        """Append the facts of an episode; those that gold was needed for go to the private part, first."""
        if gold:
            jsonl.append(self.gold_facts_file, gold.model_dump(mode="json", exclude_none=True), durable=False)
        jsonl.append(self.facts_file, facts.model_dump(mode="json", exclude_none=True), durable=False)

    def add_game(self, row: GameRow) -> None:
        """Append a game before its episode is committed; of several rows the last counts. OSError (disk)."""
        jsonl.append(self.games_file, row.model_dump(mode="json"))

    def add_failure_mark(self, mark: FailureMark) -> None:
        """Append a person's word; needs no lock. OSError: no private part, or no right to write."""
        jsonl.append(self.failure_marks_file, mark.model_dump(mode="json"))

    def repair(self) -> list[str]:
        """Undo what a kill left behind; returns one line for each thing done. Needs the lock."""
        done = []
        for path in (
            self.episodes_file, self.verdicts_file, self.reasons_file, self.leaks_file,
            self.leak_reasons_file, self.unjudged_file, self.audit_file, self.facts_file,
            self.gold_facts_file, self.failures_file, self.failure_reasons_file, self.failure_marks_file,
            self.chain_breaks_file, self.chain_reasons_file,
            self.memory_file, self.memory_withheld_file, self.games_file,
        ):  # fmt: skip
            if _cut_torn_tail(path):
                done.append(f"{path.name}: cut a half-written last line")
        kept = {record.trace for record in self.episodes()}
        for trace in sorted(self.traces.iterdir()):
            if trace.name not in kept:
                trace.unlink()
                done.append(f"removed the unfinished trace {trace.name}")
        for folder in (self.path, self.private, self.blobs):
            for path in folder.glob(".*"):
                if path.is_file() and path.name != LOCK:  # half-written neighbours of files and blobs
                    path.unlink()
        return done

    def drop_faults(self) -> int:
        """Take the episodes that broke through our fault back out, to be run again; how many there were."""
        rows = jsonl.read(self.episodes_file).rows
        kept = [row for row in rows if row.get("status") != "sandbox_error"]
        if len(kept) < len(rows):
            jsonl.write_all(self.episodes_file, kept)
        return len(rows) - len(kept)


def _cut_torn_tail(path: Path) -> bool:
    lines = jsonl.read(path)
    if not path.exists() or (not lines.torn and _ends_with_newline(path)):
        return False
    with path.open("r+b") as file:
        file.truncate(lines.good_bytes)
        file.seek(0, os.SEEK_END)
        if lines.good_bytes and not _ends_with_newline(path):
            file.write(b"\n")
    return lines.torn


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"
