"""A judge of the user's own: a function or JUDGE in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.judges import get_judge
from fieldmark.task import Gold

GOLD = Gold(answer="Saab 340")


def write(folder: Path, body: str, name: str = "lenient.py") -> str:
    path = folder / name
    path.write_text(body, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("said", "label", "score", "reason"),
    [
        ('"partially_correct"', "partially_correct", 0.5, ""),
        ('("correct", "close enough")', "correct", 1.0, "close enough"),
        ("answer == gold.answer", "incorrect", 0.0, ""),
        ("Judgement('correct', 0.9, 'nearly')", "correct", 0.9, "nearly"),
    ],
)
def test_what_a_function_may_say(tmp_path: Path, said: str, label: str, score: float, reason: str) -> None:
    head = "from fieldmark.evals.judges import Judgement\n"
    judge = get_judge(write(tmp_path, f"{head}def judge(question, gold, answer):\n    return {said}\n"))
    verdict = judge.judge("What is it?", GOLD, "a Saab")
    assert (judge.name, verdict.label, verdict.score, verdict.reason) == ("lenient", label, score, reason)


def test_a_judge_of_any_other_making(tmp_path: Path) -> None:
    text = "class Mine:\n    name = 'mine-2'\n    def judge(self, q, g, a): ...\nJUDGE = Mine()\n"
    assert get_judge(write(tmp_path, text)).name == "mine-2"


def test_what_is_no_verdict_is_an_error_of_the_judge(tmp_path: Path) -> None:
    judge = get_judge(write(tmp_path, "def judge(question, gold, answer):\n    return 'yes'\n"))
    with pytest.raises(TypeError, match="the judge said 'yes': return correct, partially_correct"):
        judge.judge("What is it?", GOLD, "a Saab")


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("x = 1", "j.py", "makes no judge: define judge(question, gold, answer), or JUDGE"),
        ("JUDGE = 5", "j.py", "makes no judge"),
        (
            "def judge(q, g, a): ...",
            "exact.py",
            "its name is 'exact': give it a name that no",
        ),
        ("def judge(q, g, a", "j.py", "j.py:1: SyntaxError"),
        ("", "j.txt", "is not a Python file"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, text: str, name: str, told: str) -> None:
    with pytest.raises(UsageError) as fault:
        get_judge(write(tmp_path, text, name))
    assert told in str(fault.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        get_judge(str(tmp_path / "none.py"))
