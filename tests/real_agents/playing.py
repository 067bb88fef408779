"""One run of a real agent over cases: a task each, whose question names it, and what its model says to it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK, ours, spawn
from tests.model_server import Body, ModelServer, Reply, Script

Cases = Mapping[str, Sequence[Reply | Script]]
"""Case → the replies in order, or what makes one of a request; the last one again and again."""


@dataclass(frozen=True)
class Played:
    """What became of a run: its records, its traces, and what the server was asked, by case."""

    folder: RunDir
    records: dict[str, EpisodeRecord]
    asked: dict[str, list[Body]]

    def events(self, case: str, kind: str) -> list[Any]:
        return [event for event in self.folder.trace(self.records[case]) if event.kind == kind]


def play(agent: str, cases: Cases, engine: Any, folder: Path, *flags: str) -> Played:
    """The run, with a second model `seer`; nothing of it is left in the engine."""
    before = ours(engine)
    asked: dict[str, list[Body]] = defaultdict(list)

    def script(body: Body) -> Reply:
        if body["model"] == "seer":
            return Reply("All of it is red.")
        case = re.findall(r"Case (\w+)", json.dumps(body["messages"]))[0]
        asked[case].append(body)
        replies = cases[case]
        reply = replies[min(len(asked[case]), len(replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(body)

    with ModelServer(script, models=("scripted", "seer")) as server:
        served = ["--model", "scripted", "--base-url", server.url]
        run = run_over(agent, benchmark(folder, cases), folder / "out", *served, *flags)
    assert ours(engine) <= before
    return Played(run, {record.id: record for record in run.episodes()}, asked)


def run_over(agent: str, tasks: Path, out: Path, *flags: str) -> RunDir:
    """One `fieldmark run`, to its end."""
    process = spawn(
        [FIELDMARK, "run", "--agent", agent, "--benchmark", str(tasks), "--out", str(out), *flags]
    )
    _, errors = process.communicate()
    assert process.returncode in (0, 1), errors  # 1: the model's server was down for one of them
    return RunDir.open(out)


def benchmark(folder: Path, cases: Cases) -> Path:
    Image.new("RGB", (2048, 1500), "red").save(folder / "red.png")
    rows = [
        {
            "id": case,
            "question": f"Case {case}: which colour is it?",
            "image": "red.png",
            "gold": {"answer": "red"},
        }
        for case in cases
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "tasks.jsonl"
