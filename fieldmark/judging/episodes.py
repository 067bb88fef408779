"""One episode judged: what its agent gave, and the judge's word on it as a row of the run folder."""

from __future__ import annotations

import contextlib
import threading

from pydantic import ValidationError

from fieldmark.evals.judges import Judge
from fieldmark.evals.judges.base import FullJudge, Given, Judgement, JudgingOver, ServerDown, Unjudged
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from fieldmark.trace import Answer

OUTAGES = 3
"""Answers in a row that the judge's server did not answer for end the judging."""
SHOWN = 2_000
"""Characters of a reply without a verdict that are kept."""


class EpisodeJudge:
    """Judges episodes of one run, from several threads too, and writes what it finds into its folder."""

    def __init__(self, judge: Judge, folder: RunDir) -> None:
        self._judge = judge
        self._folder = folder
        self._over: str | None = None
        self._outages = 0
        self._told: set[str] = set()
        self._writing = threading.Lock()

    def judge(self, question: str, gold: Gold, record: EpisodeRecord) -> Verdict:
        """The verdict, committed. Unjudged, the reason kept in the private part, when there is none: a judge
        may be the user's own code, whatever it raises.
        """
        try:
            said = self._say(question, gold, record)
        except Exception as error:
            self._leave(record, error)
            raise
        self._outages = 0
        verdict = Verdict(
            id=record.id, epoch=record.epoch, label=said.label, score=said.score, judge=self._judge.name,
            finer=said.finer, repaired=said.repaired, truncated=said.truncated,
            votes=dict(said.votes) if said.votes else None, use=said.use, reason=said.reason,
        )  # fmt: skip
        with self._writing:
            self._folder.add_verdict(verdict)
        return verdict

    def complaint(self, record: EpisodeRecord, error: Exception) -> str | None:
        """What to say of an episode left unjudged; None where what ended the judging was told before."""
        if not isinstance(error, JudgingOver):
            return f"episode {record.id} stays unjudged: {_why(error)}"[:300]
        with self._writing:
            told = str(error) in self._told
            self._told.add(str(error))
        return None if told else f"the judging ends here, what is left stays unjudged: {error}"

    def _say(self, question: str, gold: Gold, record: EpisodeRecord) -> Judgement:
        answer = record.answer if record.status == "answered" else None
        if self._over and answer:
            raise JudgingOver(self._over)
        if not isinstance(self._judge, FullJudge):
            return self._judge.judge(question, gold, answer)
        return self._judge.judge_given(question, gold, given(self._folder, record, answer))

    def _leave(self, record: EpisodeRecord, error: Exception) -> None:
        self._outages += isinstance(error, ServerDown)
        if isinstance(error, JudgingOver) or self._outages >= OUTAGES:
            self._over = str(error)
        reply, use = (error.reply[:SHOWN], error.use) if isinstance(error, Unjudged) else ("", None)
        with self._writing:
            self._folder.add_unjudged(record, self._judge.name, _why(error), reply, use)


def _why(error: Exception) -> str:
    """What a judge says of itself; of another fault, its kind too."""
    return str(error) if isinstance(error, Unjudged) else f"{type(error).__name__}: {error}"


def given(folder: RunDir, record: EpisodeRecord, answer: str | None) -> Given:
    """The answer with the text that it was read from, as far as there is a trace."""
    last: Answer | None = None
    with contextlib.suppress(ValidationError, OSError):
        for event in folder.trace(record):
            last = event if isinstance(event, Answer) else last
    return given_by(record, answer, last)


def given_by(record: EpisodeRecord, answer: str | None, last: Answer | None) -> Given:
    """The same where the last answer of the trace is known."""
    raw = last.raw if last else ""
    return Given(answer, raw, record.rationale or (last.rationale if last else None) or "")
