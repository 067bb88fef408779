"""A person's sitting: one question at a time, each committed as an episode when it ends.

A question ends by an answer, or when its time is over; GRACE is for the way of what the page hands in by
itself at that moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from fieldmark import __version__, jsonl
from fieldmark.clock import utc
from fieldmark.exam import desk
from fieldmark.exam.desk import Desk, Draft, Question
from fieldmark.exam.sheet import Sheet
from fieldmark.records import PERSON, EpisodeRecord, Status
from fieldmark.rundir import RunDir, episode_key

GRACE = 3.0
"""Seconds over the limit in which an answer is still taken."""


class NotOpen(Exception):
    """The question that is spoken of is not the open one: it was handed in, or its time is over."""


class Sitting:
    """The exam of a run folder that this process holds. Any thread may call it. `now`: seconds since 1970."""

    def __init__(self, folder: RunDir, now: Callable[[], float] = time.time) -> None:
        self._folder, self._now = folder, now
        self._lock = threading.RLock()
        config = folder.config()
        self.person = str(config["model"]["name"])
        self.limit = float(config["limits"]["seconds"])
        self.tasks = {str(row["id"]): row for row in folder.tasks()}
        self.done = {record.id for record in folder.episodes()}
        self._desk: Desk = desk.load(folder.private)
        self._take_up()

    @property
    def token(self) -> str:
        return self._desk.token

    @property
    def total(self) -> int:
        return len(self.tasks)

    @property
    def question(self) -> Question | None:
        """The open one."""
        return self._desk.question

    @property
    def number(self) -> int:
        """Of the open question or, between two, of the next; counted from 1."""
        return len(self.done) + 1

    @property
    def finished(self) -> bool:
        return len(self.done) == self.total

    @property
    def left(self) -> float:
        """Seconds of the open question that are left, at least 0; the whole limit between two."""
        with self._lock:
            return max(0.0, self.limit - self._charged()) if self.question else self.limit

    def begin(self) -> None:
        """Open the next question, if none is open: its time begins."""
        with self._lock:
            left = [task for task in self.tasks if task not in self.done]
            if self.question is None and left:
                now = self._now()
                self._desk.question = Question(id=left[0], began=now, seen=now)
                self._save()

    def keep(self, number: int, draft: Draft) -> None:
        """What was typed so far. NotOpen when that question is over."""
        with self._lock:
            self._opened(number).draft = draft
            self.tick()

    def hand_in(self, number: int, sheet: Sheet) -> None:
        """Commit an answer. NotOpen when that question is over; OSError (disk): it stays open."""
        with self._lock:
            self.tick()
            self._opened(number)
            self._commit("answered", sheet)

    def tick(self) -> None:
        """Charge the time that has gone by; a question whose time is over is committed without an answer."""
        with self._lock:
            question = self.question
            if question is None:
                return
            question.charged, question.seen = self._charged(), self._now()
            if question.charged > self.limit + GRACE:
                self._commit("timeout", None)
            else:
                self._save()

    def _take_up(self) -> None:
        """After a kill or a pause: what is committed is closed; time that no server saw is not charged."""
        question = self._desk.question
        if question and (question.id in self.done or question.id not in self.tasks):
            self._desk.question = question = None
        if question:
            now = self._now()
            question.away.append(round(now - question.seen, 3))
            question.seen = now
        if self.finished:
            self._finish()
        self._save()

    def _opened(self, number: int) -> Question:
        if self.question is None or number != self.number:
            raise NotOpen
        return self.question

    def _charged(self) -> float:
        assert self.question is not None
        return self.question.charged + max(0.0, self._now() - self.question.seen)

    def _save(self) -> None:
        desk.save(self._folder.private, self._desk)

    def _commit(self, status: Status, sheet: Sheet | None) -> None:
        question = self.question
        assert question is not None
        wall, charged = self._now() - question.began, self._charged()
        record = EpisodeRecord(
            id=question.id, status=status, agent=PERSON, model=self.person,
            answer=sheet.answer if sheet else None,
            confidence=sheet.confidence if sheet else None,
            rationale=(sheet.notes or None) if sheet else None,
            seconds=round(wall, 3), charged_seconds=round(charged, 3), counts={"model_calls": 0},
            started=utc(question.began, timespec="milliseconds"), trace=f"{episode_key(question.id)}.jsonl",
        )  # fmt: skip
        pending = self._folder.pending_trace(question.id, 0, 0)
        jsonl.write_all(pending, self._events(record, question, sheet))
        self._folder.commit(record, pending)
        self.done.add(question.id)
        self._desk.question = None
        self._save()
        if self.finished:
            self._finish()

    def _events(self, record: EpisodeRecord, question: Question, sheet: Sheet | None) -> list[dict[str, Any]]:
        """The trace: what was shown, that the server was away, what was handed in."""
        task = self.tasks[question.id]
        told: list[tuple[float, str, dict[str, Any]]] = [(0.0, "episode_start", {
            "version": __version__, "run": self._folder.path.name, "id": record.id, "epoch": 0, "attempt": 0,
            "agent": PERSON, "model": self.person, "image": task["image"], "view": task["view"],
            "prompt_sha256": "", "limits": {"seconds": self.limit},
        })]  # fmt: skip
        told += [
            (record.seconds, "log", {"message": f"no server was there for {gap} s: not charged"})
            for gap in question.away
        ]
        if sheet:
            said: dict[str, Any] = {
                "text": sheet.answer,
                "evidence": sheet.sources,
                "raw": question.draft.answer,
            }
            told_of = {"confidence": sheet.confidence, "rationale": sheet.notes or None}
            said |= {key: value for key, value in told_of.items() if value is not None}
            told.append((record.seconds, "answer", said))
        elif question.draft.answer:
            message = f"not handed in when the time was over: {question.draft.answer}"
            told.append((record.seconds, "log", {"message": message}))
        told.append((record.seconds, "episode_end", {
            "status": record.status, "seconds": record.seconds, "charged_seconds": record.charged_seconds,
            "counts": record.counts,
        }))  # fmt: skip
        return [
            {"seq": seq, "t": t, "by": "runner", "kind": kind, **fields}
            for seq, (t, kind, fields) in enumerate(told)
        ]

    def _finish(self) -> None:
        config = self._folder.config()
        if config.get("state") != "finished":
            self._folder.write_config({**config, "state": "finished"})
