"""Does throughput grow with the nodes of a Ray cluster, where the model is what is waited for?

One and two nodes on this machine, each with so many episodes at once, against a scripted model of 3 s a call
that answers any number at a time. `closed_book` makes one call. Counted from the first lease to the last
episode's end, so without the start of a run.

    make bench    or    .venv/bin/python -m benchmarks.scale --episodes 24 --at-once 3
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._tables import markdown, write_section
from benchmarks.episodes import FIELDMARK, make_tasks
from fieldmark.rundir import RunDir
from tests.model_server import Body, ModelServer, Reply
from tests.ray_cluster import RayCluster

CALL_SECONDS = 3.0


def slow(body: Body) -> Reply:
    return Reply('{"answer": "red"}', delay=CALL_SECONDS)


def throughput(folder: Path, url: str, nodes: int, at_once: int) -> tuple[float, list[int]]:
    """Episodes a minute, and how many each node played."""
    cluster = RayCluster(nodes)
    out = folder / f"on-{nodes}"
    try:
        subprocess.run(
            [FIELDMARK, "run", "--no-probe", "--no-preflight", "--benchmark", str(folder / "tasks.jsonl"),
             "--agent", "closed_book", "--model", "scripted", "--base-url", url, "--out", str(out),
             "--executor", "ray", "--address", cluster.address, "--parallel", str(at_once * nodes)],
            stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    finally:
        cluster.close()
    run = RunDir.open(out)
    begun = [datetime.fromisoformat(record.started).timestamp() for record in run.episodes()]
    ended = [start + record.seconds for start, record in zip(begun, run.episodes(), strict=True)]
    played = [node["episodes"] for node in run.config()["executor"]["nodes"]]
    return 60 * len(begun) / (max(ended) - min(begun)), played


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=24)
    parser.add_argument("--at-once", type=int, default=3, help="Episodes at once on each node.")
    parser.add_argument("--write", action="store_true", help="Write the table into docs/scale.md.")
    options = parser.parse_args()
    table = Table("nodes", "episodes a minute", "the model alone would allow", "episodes of each node")
    rates = []
    with tempfile.TemporaryDirectory() as name, ModelServer(slow) as server:
        folder = Path(name)
        make_tasks(folder, options.episodes)
        for nodes in (1, 2):
            rate, played = throughput(folder, server.url, nodes, options.at_once)
            most = 60 * options.at_once * nodes / CALL_SECONDS
            table.add_row(str(nodes), f"{rate:.1f}", f"{most:.0f}", " ".join(map(str, played)))
            rates.append(rate)
    told = f"Two nodes / one node: {rates[1] / rates[0]:.2f}."
    Console(width=110).print(table, told)
    if options.write:
        write_section("scale", f"{markdown(table)}\n\n{told}", "scale.md")


if __name__ == "__main__":
    main()
