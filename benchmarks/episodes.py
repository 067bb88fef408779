"""What an episode costs beside its model, against the least that a container can cost, in one sitting.

A scripted model of 50 ms; `closed_book` makes one model call, `react` two and one tool call. The floors:
(a) plain `docker run --init --network none`, `exec true`, `rm -f` of the same image; (b) the same with
`import langgraph.graph`. Floor and agent take turns, and the best of the rounds counts: what other programs
on the machine take is only ever added. Wall and processor time run from the first container's creation to
the last one's end, wall less the model's own; `command` is all that the command took, with imports, tables
and report. On a busy machine read the ratio of processor seconds; the wall ratio needs an idle one.

    make bench    or    .venv/bin/python -m benchmarks.episodes --parallel 8 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.table import Table

from benchmarks._cost import Cost, children_seconds, costing, session_seconds
from benchmarks._floors import floor
from fieldmark.rundir import RunDir
from fieldmark.sandbox import image
from fieldmark.sandbox.engine import connect
from tests.model_server import Body, Call, ModelServer, Reply

DELAY = 0.05
MODEL_CALLS = {"closed_book": 1, "react": 2}
AGAINST = {"closed_book": ("floor (a)", 1.5), "react": ("floor (b)", 1.3)}
"""The floor of an agent and how many times that it may cost."""
HOST_SECONDS, FIRST_SECONDS, KILOBYTES = 0.15, 0.05, 6.0
"""An episode at most: host CPU; from lease to first model request; on disk beside pictures."""
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))


def scripted(body: Body) -> Reply:
    """A crop first where there are tools, then the answer."""
    if not body.get("tools"):
        return Reply('{"answer": "grey"}', delay=DELAY)
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "grey"})], delay=DELAY)
    return Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 300, "y2": 200})], delay=DELAY)


@dataclass(frozen=True)
class Ran:
    """One `fieldmark run`. `first`: seconds from lease to first model request, of each episode."""

    cost: Cost
    whole: float
    """Processor seconds of the command from its start to its end, with imports, tables and report."""
    first: list[float]
    beside: float
    """Wall seconds an episode, without the model's."""
    kilobytes: float
    """On disk an episode: its trace, its rows and the texts, which the run has once; no pictures."""


def run(agent: str, parallel: int, n: int, url: str, folder: Path) -> Ran:
    """One `fieldmark run` as a user starts it."""
    out = folder / f"bench-{secrets.token_hex(4)}"
    command = [
        FIELDMARK, "run", "--no-probe", "--benchmark", str(folder / "tasks.jsonl"), "--agent", agent,
        "--model", "scripted", "--base-url", url, "--parallel", str(parallel), "--limit", str(n),
        "--out", str(out),
    ]  # fmt: skip
    leader: list[int] = []
    before = children_seconds()
    label = f"fieldmark={out.name}"
    with costing(connect(), label, n, lambda: session_seconds(leader[0])) as found:
        process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        leader.append(process.pid)
        try:
            told, _ = process.communicate()
        finally:  # Ctrl-C does not reach a session of its own
            process.send_signal(signal.SIGINT)
            process.wait()
    assert process.returncode == 0, told.decode()
    whole = children_seconds() - before
    folder_of_run = RunDir.open(out)
    records = folder_of_run.episodes()
    assert [record.status for record in records] == ["answered"] * n, {record.status for record in records}
    first = [
        next(e.t for e in folder_of_run.trace(record) if e.kind == "model_request") for record in records
    ]
    beside = found[0].each - MODEL_CALLS[agent] * DELAY / parallel
    return Ran(found[0], whole, first, beside, kilobytes(folder_of_run) / n)


def kilobytes(run: RunDir) -> float:
    """Of all that episodes add to a run folder but pictures."""
    texts = [path for path in run.blobs.iterdir() if ".txt" in path.name]
    rows = [run.episodes_file, run.verdicts_file, run.facts_file]
    return sum(path.stat().st_size for path in (*texts, *rows, *run.traces.iterdir())) / 1000


def make_tasks(folder: Path, n: int) -> None:
    """`n` questions about one picture."""
    Image.effect_noise((1200, 800), 40).convert("RGB").save(folder / "noise.jpg", quality=90)
    gold = {"answer": "grey", "source": "drawn"}
    rows = [
        {"id": f"t{i}", "question": "What is this?", "image": "noise.jpg", "gold": gold} for i in range(n)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--agents", nargs="+", default=list(AGAINST), choices=list(AGAINST))
    options = parser.parse_args()
    console, client = Console(width=150), connect()
    picture, n = image.require(client), options.episodes
    with tempfile.TemporaryDirectory() as name, ModelServer(scripted) as server:
        folder = Path(name)
        make_tasks(folder, n)
        for agent in options.agents:
            table = headed(agent)
            for parallel in options.parallel:
                floors, runs = list[Cost](), list[Ran]()
                for _ in range(options.rounds):
                    floors.append(floor(AGAINST[agent][0], picture, parallel, n))
                    runs.append(run(agent, parallel, n, server.url, folder))
                add(table, agent, parallel, floors, runs)
            console.print(table)


COLUMNS = (
    "parallel", "wall s: floor", "ours", "ratio", "at most", "each round",
    "CPU s: floor", "ours", "ratio", "of it host", "engine: floor", "ours", "command",
    "first request ms", "kB",
)  # fmt: skip
"""An episode's, but `command`. `CPU s`: host and containers; `engine`: everybody's at that time."""


def headed(agent: str) -> Table:
    """The table of one agent and its floor."""
    table = Table(title=f"{agent} against {AGAINST[agent][0]}")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    return table


def add(table: Table, agent: str, parallel: int, floors: list[Cost], runs: list[Ran]) -> None:
    """The best round of each side."""
    low, mine = min(floors, key=lambda cost: cost.wall), min(runs, key=lambda ran: ran.beside)
    n, most = low.n, AGAINST[agent][1]
    floor_seconds = min(cost.host + cost.containers for cost in floors) / n
    seconds = min(ran.cost.host + ran.cost.containers for ran in runs) / n
    host = min(ran.cost.host for ran in runs) / n
    first = 1000 * min(statistics.median(ran.first) for ran in runs)
    rounds = [f"{ran.beside / cost.each:.2f}" for cost, ran in zip(floors, runs, strict=True)]
    table.add_row(
        str(parallel), f"{low.each:.3f}", f"{mine.beside:.3f}", marked(mine.beside / low.each, most, 2),
        f"{most}", " ".join(rounds),
        f"{floor_seconds:.3f}", f"{seconds:.3f}", marked(seconds / floor_seconds, most, 2),
        marked(host, HOST_SECONDS, 3), f"{low.engine / n:.2f}", f"{mine.cost.engine / n:.2f}",
        f"{min(ran.whole for ran in runs):.1f}", marked(first, 1000 * FIRST_SECONDS, 0),
        marked(mine.kilobytes, KILOBYTES, 1),
    )  # fmt: skip


def marked(value: float, most: float, digits: int) -> str:
    """A figure, and whether it is beyond what it may be."""
    return f"{value:.{digits}f}{' !' if value > most else ''}"


if __name__ == "__main__":
    main()
