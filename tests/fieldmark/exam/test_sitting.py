"""A sitting, its clock, and what a kill leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.exam.desk import Draft
from fieldmark.exam.sheet import UNKNOWN, Sheet, read
from fieldmark.exam.sitting import GRACE, NotOpen, Sitting
from fieldmark.exam.starting import open_exam
from fieldmark.judging.again import judge_again
from fieldmark.model_config import JudgeConfig
from fieldmark.rundir import RunDir
from tests.fieldmark.exam.conftest import NewExam


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_each_answer_is_an_episode_and_a_run_that_can_be_judged(new: NewExam, clock: Clock) -> None:
    folder = new()
    gold = folder.gold()
    sitting = Sitting(folder, clock)
    for number in (1, 2, 3):
        sitting.begin()
        assert sitting.question
        clock.at += 10
        right = gold[sitting.question.id].answer
        sheet = Sheet(answer=UNKNOWN if number == 3 else right, confidence=0.0, sources=["https://a.org/"])
        sitting.hand_in(number, sheet)
    assert sitting.finished
    assert folder.config()["state"] == "finished"
    assert [(r.status, r.agent, r.model, r.seconds, r.confidence) for r in folder.episodes()] == [
        ("answered", "person", "ann", 10.0, 0.0)
    ] * 3
    events = folder.events(folder.episodes()[0])
    assert [event.kind for event in events] == ["episode_start", "answer", "episode_end"]
    assert events[1].model_dump()["evidence"] == ["https://a.org/"]
    folder.unlock()
    judge_again(folder, JudgeConfig(), print)
    verdicts = folder.verdicts()  # in the order in which they came
    labels = [verdicts[record.id, record.epoch].label for record in folder.episodes()]
    assert labels == ["correct", "correct", "incorrect"]


def test_time_that_is_over_is_a_timeout_and_the_draft_is_kept_in_the_trace(
    new: NewExam, clock: Clock
) -> None:
    folder = new()
    sitting = Sitting(folder, clock)
    sitting.begin()
    sitting.keep(1, Draft(answer="a sandp"))
    clock.at += 60 + GRACE - 1
    sitting.tick()
    assert sitting.question
    assert sitting.left == 0
    clock.at += 2
    with pytest.raises(NotOpen):
        sitting.hand_in(1, Sheet(answer="a sandpiper"))
    [record] = folder.episodes()
    assert (record.status, record.answer) == ("timeout", None)
    assert "a sandp" in folder.events(record)[1].model_dump()["message"]
    assert sitting.number == 2


def test_an_answer_counts_once(new: NewExam, clock: Clock) -> None:
    sitting = Sitting(new(), clock)
    sitting.begin()
    sitting.hand_in(1, Sheet(answer="one"))
    with pytest.raises(NotOpen):
        sitting.hand_in(1, Sheet(answer="two"))
    assert [record.answer for record in RunDir(sitting._folder.path).episodes()] == ["one"]


def test_after_a_kill_the_question_goes_on_with_its_draft_and_no_time_is_charged(
    new: NewExam, clock: Clock
) -> None:
    folder = new()
    killed = Sitting(folder, clock)
    killed.begin()
    clock.at += 20
    killed.keep(1, Draft(answer="half an ans", sources="https://a.org/"))
    folder.unlock()  # as the kernel does at kill -9
    clock.at += 3600
    again = Sitting(open_exam(folder.path), clock)
    assert again.question
    assert again.question.draft.answer == "half an ans"
    assert (again.token, again.left) == (killed.token, 40.0)
    clock.at += 5
    again.hand_in(1, Sheet(answer="half an answer"))
    [record] = folder.episodes()
    assert (record.seconds, record.charged_seconds) == (3625.0, 25.0)
    assert "3600.0 s: not charged" in folder.events(record)[1].model_dump()["message"]


def test_a_second_process_is_refused_and_a_run_is_no_exam(new: NewExam, tmp_path: Path) -> None:
    folder = new()
    with pytest.raises(UsageError, match="another fieldmark process is writing"):
        open_exam(folder.path)
    other = RunDir.create(tmp_path / "run")
    other.write_config({"agent": "react"})
    with pytest.raises(UsageError, match="is no exam: go on with it by `fieldmark run --resume"):
        open_exam(other.path)


def test_what_is_typed_is_read() -> None:
    sheet = read({"do": "answer", "answer": " A380 ", "confidence": "75", "sources": "https://a.org\nmy book",
                  "notes": "seen"})  # fmt: skip
    assert sheet == Sheet(answer="A380", confidence=0.75, sources=["https://a.org"], notes="my book\nseen")
    assert read({"do": "unknown", "answer": "A380", "confidence": "75"}) == Sheet(answer=UNKNOWN)
    for form, words in (
        ({"answer": " "}, "The answer is empty"),
        ({"answer": "a", "confidence": "nan"}, "0 to 100"),
    ):
        with pytest.raises(UsageError, match=words):
            read(form)
