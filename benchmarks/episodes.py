"""What an episode costs beside its model: time to the first model request, and episodes per minute.

A scripted model of 50 ms; `react` makes two model calls and one tool call, `closed_book` one call. Read the
ratios of one sitting, not the times: they move with the machine.

    make bench    or    .venv/bin/python -m benchmarks.episodes --episodes 24
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.table import Table

from fieldmark.rundir import RunDir
from tests.model_server import Body, Call, ModelServer, Reply

DELAY = 0.05
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))


def scripted(body: Body) -> Reply:
    """A crop first where there are tools, then the answer."""
    if not body.get("tools"):
        return Reply('{"answer": "grey"}', delay=DELAY)
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "grey"})], delay=DELAY)
    return Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 300, "y2": 200})], delay=DELAY)


@dataclass(frozen=True)
class Measured:
    """Seconds, of one run of `n` episodes. `span` runs from the first lease to the last end."""

    n: int
    span: float
    first_request: list[float]
    episode: list[float]

    @property
    def per_minute(self) -> float:
        return 60 * self.n / self.span


def measure(agent: str, parallel: int, episodes: int, url: str, folder: Path) -> Measured:
    """One `fieldmark run` as a user starts it; times are read from its run folder."""
    out = folder / f"{agent}-{parallel}"
    command = [
        FIELDMARK, "run", "--no-probe", "--benchmark", str(folder / "tasks.jsonl"), "--agent", agent,
        "--model", "scripted",
        "--base-url", url, "--parallel", str(parallel), "--limit", str(episodes), "--out", str(out),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    run = RunDir.open(out)
    records = run.episodes()
    assert all(record.status == "answered" for record in records), {record.status for record in records}
    starts = [datetime.datetime.fromisoformat(record.started).timestamp() for record in records]
    ends = [start + record.seconds for start, record in zip(starts, records, strict=True)]
    first = [next(e.t for e in run.trace(record) if e.kind == "model_request") for record in records]
    return Measured(len(records), max(ends) - min(starts), first, [record.seconds for record in records])


def make_tasks(folder: Path, episodes: int) -> None:
    Image.effect_noise((1200, 800), 40).convert("RGB").save(folder / "noise.jpg", quality=90)
    rows = [
        {
            "id": f"t{n}",
            "question": "What is this?",
            "image": "noise.jpg",
            "gold": {"answer": "grey", "source": "drawn"},
        }
        for n in range(episodes)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=24)
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 4, 8])
    options = parser.parse_args()
    table = Table(
        "agent",
        "parallel",
        "first request median ms",
        "p95 ms",
        "episode median s",
        "episodes / min",
        "ratio",
    )
    with tempfile.TemporaryDirectory() as name, ModelServer(scripted) as server:
        folder = Path(name)
        make_tasks(folder, options.episodes)
        for agent in ("closed_book", "react"):
            slowest = None
            for parallel in options.parallel:
                seen = measure(agent, parallel, options.episodes, server.url, folder)
                slowest = slowest or seen.per_minute
                table.add_row(
                    agent, str(parallel), f"{1000 * statistics.median(seen.first_request):.0f}",
                    f"{1000 * statistics.quantiles(seen.first_request, n=20)[-1]:.0f}",
                    f"{statistics.median(seen.episode):.2f}", f"{seen.per_minute:.0f}",
                    f"{seen.per_minute / slowest:.2f} x",
                )  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
