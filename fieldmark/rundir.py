"""The run folder: the only module that knows its paths, and how an episode is committed to it.

    run.json  tasks.jsonl  episodes.jsonl  verdicts.jsonl  traces/<key>.jsonl  blobs/<sha256>.<ext>
    facts.jsonl  failures.jsonl  leaks.jsonl  memory.jsonl  memory.sqlite  report.html
    private/: memory_withheld, gold, verdict_reasons, unjudged, audit, leak_reasons, gold_facts,
    failure_reasons, failure_marks

Commit of an episode: fsync its trace, rename it into place, one `write()` to `episodes.jsonl`, fsync.
A kill at any moment loses at most the episodes in flight.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.errors import UsageError
from fieldmark.findings import Failure, FailureMark, FailureReason, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, JudgeUse, Leak, Row, Verdict
from fieldmark.task import Gold
from fieldmark.trace import Event, parse_event

RUN_VERSION = 1
AnyRow = TypeVar("AnyRow", bound=Row)
LOCK = ".lock"
STUDY_JSON = "study.json"
"""What the folder of a study has, whose runs are folders in it."""


def episode_key(task_id: str, epoch: int = 0) -> str:
    """A file name for an episode: slug + 8 hex of sha256(id), so that any id is safe and unique."""
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", task_id)[:40].strip("-") or "task"
    key = f"{slug}-{hashlib.sha256(task_id.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return f"{key}-e{epoch}" if epoch else key


class RunDir:
    """An existing run folder. Reading needs no lock; only the runner holds `lock()` and writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_json = path / "run.json"
        self.tasks_file = path / "tasks.jsonl"
        self.episodes_file = path / "episodes.jsonl"
        self.verdicts_file = path / "verdicts.jsonl"
        self.traces = path / "traces"
        self.blobs = path / "blobs"
        self.private = path / "private"
        self.gold_file = self.private / "gold.jsonl"
        self.reasons_file = self.private / "verdict_reasons.jsonl"
        self.unjudged_file = self.private / "unjudged.jsonl"
        self.audit_file = self.private / "audit.jsonl"
        self.leaks_file = path / "leaks.jsonl"
        self.leak_reasons_file = self.private / "leak_reasons.jsonl"
        self.facts_file = path / "facts.jsonl"
        self.gold_facts_file = self.private / "gold_facts.jsonl"
        self.failures_file = path / "failures.jsonl"
        self.failure_reasons_file = self.private / "failure_reasons.jsonl"
        self.failure_marks_file = self.private / "failure_marks.jsonl"
        self.memory_file = path / "memory.jsonl"
        self.memory_store = path / "memory.sqlite"
        self.memory_withheld_file = self.private / "memory_withheld.jsonl"
        self.paths_file = self.private / "paths.json"
        self.report_html = path / "report.html"
        self._lock: int | None = None

    def blob_store(self) -> BlobStore:
        """Its blobs; a run of a study shares them with the others (`blobs/` beside the runs)."""
        shared = self.path.parent / "blobs"
        return BlobStore(self.blobs, shared if (self.path.parent / STUDY_JSON).exists() else None)

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

    # -- writing -------------------------------------------------------------------------------

    def lock(self) -> None:
        """Hold the folder for this process until it ends; a second runner gets a UsageError."""
        self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"another fieldmark process is writing {self.path}: wait for it or stop it"
            ) from None

    def unlock(self) -> None:
        """Let another runner have the folder before this process ends."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write_config(self, config: dict[str, Any]) -> None:
        text = json.dumps(
            {"run_version": RUN_VERSION, **config}, ensure_ascii=False, indent=2, allow_nan=False
        )
        temporary = self.run_json.with_name(".run.json.new")
        temporary.write_bytes(f"{text}\n".encode("utf-8", "replace"))
        temporary.replace(self.run_json)

    def write_paths(self, paths: dict[str, Any]) -> None:
        """Where things lie on this machine: needed to go on with the run, and nobody else's business."""
        self.paths_file.write_text(json.dumps(paths), encoding="utf-8", errors="replace")

    def paths(self) -> dict[str, Any]:
        """What `write_paths` wrote; empty when the private part is not there."""
        try:
            loaded: dict[str, Any] = json.loads(self.paths_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return loaded

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

    def repair(self) -> list[str]:
        """Undo what a kill left behind; returns one line for each thing done. Needs the lock."""
        done = []
        for path in (
            self.episodes_file, self.verdicts_file, self.reasons_file, self.leaks_file,
            self.leak_reasons_file, self.unjudged_file, self.audit_file, self.facts_file,
            self.gold_facts_file, self.failures_file, self.failure_reasons_file, self.failure_marks_file,
            self.memory_file, self.memory_withheld_file,
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

    # -- reading -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        """run.json; UsageError when it cannot be read."""
        try:
            loaded = json.loads(self.run_json.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{self.run_json} cannot be read ({error}): restore it or start a new run"
            ) from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{self.run_json} is not a JSON object: restore it or start a new run")
        return loaded

    def tasks(self) -> list[dict[str, Any]]:
        """The public rows of the tasks, in run order."""
        return jsonl.read(self.tasks_file).rows

    def gold(self) -> dict[str, Gold]:
        """Gold by task id; empty when the private part is not there. A row that is none is not there."""
        found = {}
        for row in jsonl.read(self.gold_file).rows:
            with contextlib.suppress(ValidationError):
                gold = Gold.model_validate({key: value for key, value in row.items() if key != "id"})
                found[str(row.get("id"))] = gold
        return found

    def episodes(self) -> list[EpisodeRecord]:
        """One record per (id, epoch); where a key stands twice, the last row that is not our fault wins."""
        best: dict[tuple[str, int], EpisodeRecord] = {}
        for record in _valid(self.episodes_file, EpisodeRecord):
            if record.status != "sandbox_error" or record.key not in best:
                best[record.key] = record
        return list(best.values())

    def verdicts(self) -> dict[tuple[str, int], Verdict]:
        """The latest verdict of each episode by the run's judge; those of other judges are kept, not mixed.

        Where run.json names no judge, the latest of any.
        """
        judge = self.config().get("judge") if self.run_json.exists() else None
        valid = _valid(self.verdicts_file, Verdict)
        return {verdict.key: verdict for verdict in valid if not judge or verdict.judge == judge}

    def all_verdicts(self) -> list[Verdict]:
        """The latest of each episode by each judge, also of those that judged before the run's."""
        valid = _valid(self.verdicts_file, Verdict)
        return list({(verdict.judge, *verdict.key): verdict for verdict in valid}.values())

    def judge_uses(self) -> list[tuple[str, JudgeUse]]:
        """The judge's name and what its model was asked, of every word on an answer and every try at one.

        Without the private part, of verdicts alone.
        """
        found = [(verdict.judge, verdict.use) for verdict in _valid(self.verdicts_file, Verdict)]
        for row in jsonl.read(self.unjudged_file).rows:
            with contextlib.suppress(ValidationError):
                use = JudgeUse.model_validate(row["use"]) if row.get("use") else None
                found.append((str(row.get("judge")), use))
        return [(judge, use) for judge, use in found if use and use.calls]

    def leaks(self) -> dict[tuple[str, int], Leak]:
        """What was found of each episode; one that ran again is looked at again."""
        return {leak.key: leak for leak in _valid(self.leaks_file, Leak)}

    def facts(self) -> dict[tuple[str, int], TraceFacts]:
        """The latest facts of each episode."""
        return {row.key: row for row in _valid(self.facts_file, TraceFacts)}

    def gold_facts(self) -> dict[tuple[str, int], GoldFacts]:
        """The latest of each episode; empty when the private part is not there."""
        return {row.key: row for row in _valid(self.gold_facts_file, GoldFacts)}

    def failures(self) -> dict[tuple[str, int], Failure]:
        """The latest word on each answer that is not correct."""
        return {row.key: row for row in _valid(self.failures_file, Failure)}

    def failure_reasons(self) -> dict[tuple[str, int], FailureReason]:
        """The private part of each; empty when it is not there."""
        return {row.key: row for row in _valid(self.failure_reasons_file, FailureReason)}

    def failure_marks(self) -> list[FailureMark]:
        """Persons' words, the latest of each annotator and episode."""
        marks = _valid(self.failure_marks_file, FailureMark)
        return list({(mark.annotator, *mark.key): mark for mark in marks}.values())

    def unreadable(self) -> dict[str, int]:
        """File name → rows that are JSON and yet no episode, verdict or gold; they count as not there."""
        lost = {
            self.episodes_file.name: _count(self.episodes_file) - _count(self.episodes_file, EpisodeRecord),
            self.verdicts_file.name: _count(self.verdicts_file) - _count(self.verdicts_file, Verdict),
            self.gold_file.name: _count(self.gold_file) - len(self.gold()),
        }
        return {name: count for name, count in lost.items() if count}

    def trace(self, record: EpisodeRecord) -> Iterator[Event]:
        """The events of a committed episode, in order."""
        for row in jsonl.read(self.traces / Path(record.trace).name).rows:
            yield parse_event(row)


def _valid(path: Path, kind: type[AnyRow]) -> Iterator[AnyRow]:
    """The rows of a file that are of their kind."""
    for row in jsonl.read(path).rows:
        with contextlib.suppress(ValidationError):
            yield kind.model_validate(row)


def _count(path: Path, kind: type[Row] | None = None) -> int:
    return len(list(_valid(path, kind))) if kind else len(jsonl.read(path).rows)


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
