"""A curation: a folder with curate.toml, curate.sqlite and pictures/. What it decides it never forgets.

Discard-oriented, as FIKA-Bench's criteria (arXiv 2605.13193, section 3.2): a candidate is after a step only
where that step and every one before it said `keep`; what is open, or was never asked, is not.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.curation import settings as settings_file
from fieldmark.evals.curation.records import (
    PROGRAM,
    STEPS,
    Candidate,
    Decision,
    Outcome,
    Step,
    StepCount,
    Verdict,
)
from fieldmark.evals.curation.schema import connect
from fieldmark.evals.curation.settings import Settings, read_settings

PICTURES = "pictures"
_AT_ONCE = 500
"""Rows that are held in memory while all are walked through."""
_HOLDS = "(SELECT verdict FROM decisions WHERE step = ? AND candidate = c.id ORDER BY id DESC LIMIT 1)"
"""The verdict of a step that holds for candidate c; NULL where there is none."""


class Project:
    """One connection to the state. Several processes may hold one each; every decision is on disk at once."""

    def __init__(self, folder: Path, settings: Settings, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.settings = settings
        self.database = database
        self._depth = 0

    @classmethod
    def create(cls, folder: Path) -> Project:
        """Begin one; an existing one is opened, and its curate.toml left as it is."""
        try:
            (folder / PICTURES).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make {folder}: {error.strerror}: name another folder") from None
        file = folder / settings_file.FILE
        if not file.exists():
            file.write_text(settings_file.TEMPLATE, encoding="utf-8")
        connect(folder, create=True).close()
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Project:
        """UsageError: there is none, or its curate.toml is wrong."""
        database = connect(folder)
        return cls(folder, read_settings(folder / settings_file.FILE), database)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written within is there, or nothing of it; nested, the outermost counts."""
        if self._depth:
            yield
            return
        try:
            self.database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"{self.folder} cannot be written ({error}): call again when the other command has ended"
            ) from None
        self._depth = 1
        try:
            yield
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        else:
            self.database.execute("COMMIT")
        finally:
            self._depth = 0

    def picture(self, candidate: Candidate) -> Path:
        """Its file: upright or with its orientation made good, without metadata."""
        return self.folder / candidate.path

    def add(self, candidate: Candidate) -> bool:
        """Whether it is new; one with the same pixels stays as it was."""
        row = (
            candidate.id, candidate.sha256, candidate.path, candidate.class_name, candidate.label,
            candidate.source, candidate.licence, _json(candidate.provenance), _json(candidate.exif),
            candidate.look,
        )  # fmt: skip
        sql = f"INSERT OR IGNORE INTO candidates VALUES ({', '.join('?' * len(row))})"
        return self.database.execute(sql, row).rowcount == 1

    def candidate(self, candidate_id: str) -> Candidate:
        """UsageError when there is none."""
        row = self.database.execute("SELECT * FROM candidates WHERE id = ?", [candidate_id]).fetchone()
        if row is None:
            raise UsageError(
                f"{self.folder} has no candidate {candidate_id}: `fieldmark curate list` names them all"
            )
        return _candidate(row)

    def candidates(self, after: Step | None = None) -> Iterator[Candidate]:
        """In the order of their ids: all, or those that every step up to `after` keeps. Memory stays flat,
        and what is decided meanwhile does not disturb it.
        """
        steps = [] if after is None else list(STEPS[: STEPS.index(after) + 1])
        kept = "".join(f" AND {_HOLDS} = 'keep'" for _ in steps)
        sql = f"SELECT * FROM candidates AS c WHERE c.id > ?{kept} ORDER BY c.id LIMIT {_AT_ONCE}"
        last = ""
        while rows := self.database.execute(sql, [last, *steps]).fetchall():
            yield from map(_candidate, rows)
            last = rows[-1][0]

    def require(self, after: Step) -> None:
        """UsageError: no candidate is left there, so that the next step has nothing to do."""
        if next(self.candidates(after), None) is None:
            raise UsageError(
                f"no candidate is left after {after}: `fieldmark curate status` shows where they are"
            )

    def decide(
        self, step: Step, candidate_id: str, verdict: Verdict, why: str,
        *, who: str = PROGRAM, evidence: dict[str, Any] | None = None,
    ) -> Outcome:  # fmt: skip
        """Write a decision, unless the very same holds already. It is on disk when this returns (inside
        `writing`, when that ends). The settings are no part of the sameness: what a changed threshold does
        not touch is not decided anew.
        """
        with self.writing():
            was = self.decision(step, candidate_id)
            now = (verdict, why, who, evidence or {})
            if was and (was.verdict, was.why, was.who, was.evidence) == now:
                return "same"
            self.database.execute(
                "INSERT INTO decisions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                [candidate_id, step, verdict, why, who, _now(), self.settings.hash(step), _json(now[3])],
            )
        if was is None:
            return "new"
        return "changed" if was.verdict == verdict else "flipped"

    def decision(self, step: Step, candidate_id: str) -> Decision | None:
        """The one that holds."""
        row = self.database.execute(
            "SELECT * FROM decisions WHERE step = ? AND candidate = ? ORDER BY id DESC LIMIT 1",
            [step, candidate_id],
        ).fetchone()
        return _decision(row) if row else None

    def history(self, candidate_id: str, step: Step | None = None) -> list[Decision]:
        """Every decision on it, the oldest first."""
        steps = [step] if step else STEPS  # by the index, which begins with the step
        sql = "SELECT * FROM decisions WHERE step = ? AND candidate = ? ORDER BY id"
        found = [_decision(row) for each in steps for row in self.database.execute(sql, [each, candidate_id])]
        return sorted(found, key=lambda decision: decision.number)

    def finish_step(self, step: Step, told: dict[str, Any]) -> None:
        """Note that a step went through, under which settings, and what came of it; the same is told once."""
        row = [step, self.settings.hash(step), _json(self.settings.of(step)), _json(told)]
        with self.writing():
            last = self.database.execute(
                "SELECT settings_hash, told FROM steps WHERE step = ? ORDER BY id DESC LIMIT 1", [step]
            ).fetchone()
            if last != (row[1], row[3]):
                self.database.execute(
                    "INSERT INTO steps (step, settings_hash, settings, told, at) VALUES (?, ?, ?, ?, ?)",
                    [*row, _now()],
                )

    def funnel(self) -> list[StepCount]:
        """What each step got, kept, dropped and left open; beginning with the import."""
        rows = []
        for number, step in enumerate(STEPS):
            before = "".join(f" AND {_HOLDS} = 'keep'" for _ in STEPS[:number])
            found = self.database.execute(
                f"SELECT COUNT(*), TOTAL(v = 'keep'), TOTAL(v = 'drop'),"
                f" COUNT(DISTINCT CASE WHEN v = 'keep' THEN class END)"
                f" FROM (SELECT class, {_HOLDS} AS v FROM candidates AS c WHERE 1{before})",
                [step, *STEPS[:number]],
            ).fetchone()
            reached, keep, drop, classes = map(int, found)
            rows.append(StepCount(step, reached, keep, drop, reached - keep - drop, classes))
        return rows


def _candidate(row: tuple[Any, ...]) -> Candidate:
    named = dict(zip(Candidate.__dataclass_fields__, row, strict=True))
    return Candidate(**named | {key: json.loads(named[key]) for key in ("provenance", "exif")})


def _decision(row: tuple[Any, ...]) -> Decision:
    named = dict(zip(Decision.__dataclass_fields__, row, strict=True))
    return Decision(**named | {"evidence": json.loads(named["evidence"])})


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
