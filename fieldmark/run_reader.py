"""What a run folder holds, read: the only module that knows its paths.

run.json  tasks.jsonl  episodes.jsonl  verdicts.jsonl  traces/<key>.jsonl  blobs/<sha256>.<ext>
facts.jsonl  failures.jsonl  chain_breaks.jsonl  leaks.jsonl  memory.jsonl  memory.sqlite  report.html
private/: memory_withheld, gold, verdict_reasons, unjudged, audit, leak_reasons, gold_facts,
failure_reasons, chain_reasons, failure_marks, games
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.errors import UsageError
from fieldmark.findings import ChainBreak, Failure, FailureMark, FailureReason, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, GameRow, JudgeUse, Leak, Row, Verdict
from fieldmark.task import Gold
from fieldmark.trace import Event, parse_event

AnyRow = TypeVar("AnyRow", bound=Row)
Stamp = tuple[int, int, int] | None
STUDY_JSON = "study.json"
"""What the folder of a study has, whose runs are folders in it."""
LOCK = ".lock"
_TRACE = re.compile(r"(?:(?P<key>[^.]+)|\.(?P<pending>[^.]+)\.a(?P<attempt>\d+))\.jsonl")
"""A committed trace, or that of an attempt in flight."""
VIEW_JOIN = "~"
"""Stands between the names of a study and its run: a slash would end the name in a URL."""


class RunReader:
    """The paths of a run folder and its rows. Needs no lock; what is not there reads as empty."""

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
        self.chain_breaks_file = path / "chain_breaks.jsonl"
        self.chain_reasons_file = self.private / "chain_reasons.jsonl"
        self.failure_marks_file = self.private / "failure_marks.jsonl"
        self.memory_file = path / "memory.jsonl"
        self.memory_store = path / "memory.sqlite"
        self.memory_withheld_file = self.private / "memory_withheld.jsonl"
        self.games_file = self.private / "games.jsonl"
        self.paths_file = self.private / "paths.json"
        self.report_html = path / "report.html"
        self._kept: dict[tuple[Path, Any], tuple[Stamp, Any]] = {}

    @property
    def view_name(self) -> str:
        """Its name in the addresses of `fieldmark view`: a run of a study stands after the study's name."""
        path = self.path.resolve()
        in_study = (path.parent / STUDY_JSON).exists()
        return f"{path.parent.name}{VIEW_JOIN}{path.name}" if in_study else path.name

    def blob_store(self) -> BlobStore:
        """Its blobs; a run of a study shares them with the others (`blobs/` beside the runs)."""
        shared = self.path.parent / "blobs"
        return BlobStore(self.blobs, shared if (self.path.parent / STUDY_JSON).exists() else None)

    def config(self) -> dict[str, Any]:
        """run.json; UsageError when it cannot be read."""
        try:
            loaded = jsonl.loads(self.run_json.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(
                f"{self.run_json} cannot be read ({error}): restore it or start a new run"
            ) from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{self.run_json} is not a JSON object: restore it or start a new run")
        return loaded

    def tasks(self) -> list[dict[str, Any]]:
        """The public rows of the tasks, in run order; an id is always a text."""
        return [{**row, "id": str(row.get("id"))} for row in jsonl.read(self.tasks_file).rows]

    def gold(self) -> dict[str, Gold]:
        """Gold by task id; empty when the private part is not there. A row that is none is not there."""
        return dict(self._once(self.gold_file, Gold, _read_gold))

    def episodes(self) -> list[EpisodeRecord]:
        """One record per (id, epoch); where a key stands twice, the last row that is not our fault wins."""
        best: dict[tuple[str, int], EpisodeRecord] = {}
        for record in self._valid(self.episodes_file, EpisodeRecord):
            if record.status != "sandbox_error" or record.key not in best:
                best[record.key] = record
        return list(best.values())

    def verdicts(self) -> dict[tuple[str, int], Verdict]:
        """The latest verdict of each episode by the run's judge; those of other judges are kept, not mixed.

        Where run.json names no judge, the latest of any.
        """
        judge = self.config().get("judge") if self.run_json.exists() else None
        valid = self._valid(self.verdicts_file, Verdict)
        return {verdict.key: verdict for verdict in valid if not judge or verdict.judge == judge}

    def all_verdicts(self) -> list[Verdict]:
        """The latest of each episode by each judge, also of those that judged before the run's."""
        valid = self._valid(self.verdicts_file, Verdict)
        return list({(verdict.judge, *verdict.key): verdict for verdict in valid}.values())

    def judge_uses(self) -> list[tuple[str, JudgeUse]]:
        """The judge's name and what its model was asked, of every word on an answer and every try at one.

        Without the private part, of verdicts alone.
        """
        found = [(verdict.judge, verdict.use) for verdict in self._valid(self.verdicts_file, Verdict)]
        for row in jsonl.read(self.unjudged_file).rows:
            with contextlib.suppress(ValidationError):
                use = JudgeUse.model_validate(row["use"]) if row.get("use") else None
                found.append((str(row.get("judge")), use))
        return [(judge, use) for judge, use in found if use and use.calls]

    def leaks(self) -> dict[tuple[str, int], Leak]:
        """What was found of each episode; one that ran again is looked at again."""
        return {leak.key: leak for leak in self._valid(self.leaks_file, Leak)}

    def facts(self) -> dict[tuple[str, int], TraceFacts]:
        """The latest facts of each episode."""
        return {row.key: row for row in self._valid(self.facts_file, TraceFacts)}

    def gold_facts(self) -> dict[tuple[str, int], GoldFacts]:
        """The latest of each episode; empty when the private part is not there."""
        return {row.key: row for row in self._valid(self.gold_facts_file, GoldFacts)}

    def games(self) -> dict[tuple[str, int], GameRow]:
        """The latest of each episode that was committed; empty when the private part is not there."""
        kept = {record.key for record in self.episodes()}
        return {row.key: row for row in self._valid(self.games_file, GameRow) if row.key in kept}

    def failures(self) -> dict[tuple[str, int], Failure]:
        """The latest word on each answer that is not correct."""
        return {row.key: row for row in self._valid(self.failures_file, Failure)}

    def chain_breaks(self) -> dict[tuple[str, int], ChainBreak]:
        """The latest word on each answer that is not correct, by a scheme of others."""
        return {row.key: row for row in self._valid(self.chain_breaks_file, ChainBreak)}

    def failure_reasons(self) -> dict[tuple[str, int], FailureReason]:
        """The private part of each; empty when it is not there."""
        return {row.key: row for row in self._valid(self.failure_reasons_file, FailureReason)}

    def chain_reasons(self) -> dict[tuple[str, int], FailureReason]:
        """The private part of each of `chain_breaks`; empty when it is not there."""
        return {row.key: row for row in self._valid(self.chain_reasons_file, FailureReason)}

    def failure_marks(self) -> list[FailureMark]:
        """Persons' words, the latest of each annotator, episode and scheme."""
        marks = self._valid(self.failure_marks_file, FailureMark)
        return list({(mark.annotator, mark.scheme, *mark.key): mark for mark in marks}.values())

    def class_marks(self) -> list[FailureMark]:
        """Of each annotator and episode one word on the class: what was said by no scheme of others first."""
        marks = sorted(self.failure_marks(), key=lambda mark: mark.scheme is None)
        return list({(mark.annotator, *mark.key): mark for mark in marks}.values())

    def unreadable(self) -> dict[str, int]:
        """File name → rows that are JSON and yet no episode, verdict or gold; they count as not there."""
        lost = {
            self.episodes_file.name: self._rows(self.episodes_file, EpisodeRecord).others,
            self.verdicts_file.name: self._rows(self.verdicts_file, Verdict).others,
            self.gold_file.name: len(jsonl.read(self.gold_file).rows) - len(self.gold()),
        }
        return {name: count for name, count in lost.items() if count}

    def trace_file(self, record: EpisodeRecord) -> Path:
        """Where the trace of a committed episode lies: always in this folder, whatever the row says."""
        return self.traces / Path(record.trace).name

    def uncommitted(self, keys: Container[str]) -> dict[str, tuple[int, Path]]:
        """Of these keys of episodes without a row, the attempt and the trace that is there: in flight, left
        by a kill, or whole and not recorded. Of several attempts the last.
        """
        found: dict[str, tuple[int, Path]] = {}
        for path in _files(self.traces):
            named = _TRACE.fullmatch(path.name)
            key = (named["key"] or named["pending"]) if named else ""
            if named and key in keys:
                attempt = int(named["attempt"] or 0)
                found[key] = max(found.get(key, (attempt, path)), (attempt, path))
        return found

    def held(self) -> bool:
        """Whether a process writes the run now. Asking holds the lock for an instant, and shares it."""
        try:
            lock = os.open(self.path / LOCK, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(lock)
        return False

    def trace(self, record: EpisodeRecord) -> Iterator[Event]:
        """The events of a committed episode, in order."""
        for row in jsonl.read(self.trace_file(record)).rows:
            yield parse_event(row)

    def events(self, record: EpisodeRecord) -> list[Event]:
        """All of them; none where the trace is missing or a line of it is of another make."""
        try:
            return list(self.trace(record))
        except (OSError, ValidationError):
            return []

    def _valid(self, path: Path, kind: type[AnyRow]) -> list[AnyRow]:
        return self._rows(path, kind).valid

    def _rows(self, path: Path, kind: type[AnyRow]) -> _Rows[AnyRow]:
        rows: _Rows[AnyRow] = self._once(path, kind, partial(_read_rows, kind=kind))
        return rows

    def _once(self, path: Path, what: Any, read: Callable[[Path], Any]) -> Any:
        """What `read` makes of a file, which is not read again until it changes: many figures rest on one."""
        stamp = _stamp(path)
        kept = self._kept.get((path, what))
        if kept is None or kept[0] != stamp:
            kept = self._kept[path, what] = stamp, read(path)
        return kept[1]

    def paths(self) -> dict[str, Any]:
        """What `write_paths` wrote; empty when the private part is not there."""
        try:
            loaded: dict[str, Any] = json.loads(self.paths_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return loaded


def part(config: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of run.json; empty where it is absent or was made something else by hand."""
    value = config.get(name)
    return value if isinstance(value, dict) else {}


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


@dataclass(frozen=True)
class _Rows(Generic[AnyRow]):
    """The rows of a file that are of their kind, and how many others it has."""

    valid: list[AnyRow]
    others: int


def _read_rows(path: Path, kind: type[AnyRow]) -> _Rows[AnyRow]:
    rows, valid = jsonl.read(path).rows, []
    for row in rows:
        with contextlib.suppress(ValidationError):
            valid.append(kind.model_validate(row))
    return _Rows(valid, len(rows) - len(valid))


def _read_gold(path: Path) -> dict[str, Gold]:
    found = {}
    for row in jsonl.read(path).rows:
        with contextlib.suppress(ValidationError):
            gold = Gold.model_validate({key: value for key, value in row.items() if key != "id"})
            found[str(row.get("id"))] = gold
    return found


def _stamp(path: Path) -> Stamp:
    """What changes when a file does; None where there is none."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns
