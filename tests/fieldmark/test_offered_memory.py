"""Which of the memory's tools a run offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.abilities import choose_tools
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.loading import load_benchmark


@pytest.mark.parametrize(
    ("memory", "offered"),
    [("off", set()), ("frozen:runs/A", {"recall"}), ("inherit", {"recall", "remember"})],
)
def test_a_memory_offers_its_tools(tiny: Path, memory: str, offered: set[str]) -> None:
    chosen = choose_tools(RunConfig(memory=memory), load_benchmark(str(tiny)), None)
    assert {"recall", "remember"} & set(chosen) == offered


def test_without_one_they_are_refused_with_the_remedy(tiny: Path) -> None:
    benchmark = load_benchmark(str(tiny))
    with pytest.raises(UsageError, match="tool recall needs a memory: name --memory inherit, or frozen:RUN"):
        choose_tools(RunConfig(tools=["recall", "answer"]), benchmark, None)
    frozen = RunConfig(memory="frozen:runs/A", tools=["remember"])
    with pytest.raises(UsageError, match="tool remember needs a memory that is written"):
        choose_tools(frozen, benchmark, None)
