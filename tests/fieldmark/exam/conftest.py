"""An exam of three tasks of fieldmark-mini."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fieldmark.config import load_config
from fieldmark.exam.starting import ExamAsked, new_exam
from fieldmark.rundir import RunDir

NewExam = Callable[..., RunDir]


@pytest.fixture
def new(tmp_path: Path) -> NewExam:
    def make(name: str = "ann", size: int = 3, time_limit: float = 60.0) -> RunDir:
        config = load_config(None, {"seed": 1, "time_limit": time_limit, "out": tmp_path / name})
        return new_exam(config, ExamAsked(name, size), lambda line: None)

    return make
