"""Does anything grow with the episodes of one run? Memory, descriptors, containers, sockets, temporary files.

One `fieldmark run` against a scripted model of 50 ms, sampled each second from outside. The slope is a least
squares line over the second half, when all is warm, in units per 1,000 episodes.

    make bench    or    .venv/bin/python -m benchmarks.soak --episodes 2000 --parallel 8
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import docker
from rich.console import Console
from rich.table import Table

from benchmarks.episodes import FIELDMARK, make_tasks, scripted
from fieldmark.sandbox.container import LABEL
from tests.model_server import ModelServer

EVERY = 1.0
"""Seconds between two samples."""
COUNTED = ("memory MB", "descriptors", "threads", "containers", "socket folders", "temporary files")


def sample(pid: int, engine: Any, sockets: Path, temporary: Path) -> list[float]:
    """What a run holds now, in the order of COUNTED. OSError: it has ended. Memory is of its own process."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    if "VmRSS" not in fields:
        raise ProcessLookupError(pid)
    rows = engine.api.containers(all=True, filters={"label": f"{LABEL}=soak"})
    return [
        int(fields["VmRSS"].split()[0]) / 1024,
        len([*Path(f"/proc/{pid}/fd").iterdir()]), int(fields["Threads"]),
        len(rows), len([*sockets.glob("fm-*/*/")]), len([*temporary.iterdir()]),
    ]  # fmt: skip


def watch(process: subprocess.Popen[bytes], episodes: Path, sockets: Path, temporary: Path) -> list[Any]:
    """(episodes finished, sample) each second until the run ends."""
    engine, seen = docker.from_env(), []
    while process.poll() is None:
        done = episodes.read_bytes().count(b"\n") if episodes.exists() else 0
        try:
            seen.append((done, sample(process.pid, engine, sockets, temporary)))
        except OSError:
            break
        time.sleep(EVERY)
    return seen


def slope(points: list[tuple[int, float]]) -> float:
    """Per 1,000 episodes, over the second half of a run."""
    half = [point for point in points if point[0] >= points[-1][0] / 2]
    if len({x for x, _ in half}) < 2:
        return float("nan")
    return 1000 * statistics.linear_regression([x for x, _ in half], [y for _, y in half]).slope


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--agent", default="react")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name, ModelServer(scripted, keep=False) as server,
        tempfile.TemporaryDirectory(prefix="fms", dir="/tmp") as sockets,
    ):  # fmt: skip
        folder = Path(name)
        (temporary := folder / "temporary").mkdir()
        make_tasks(folder, options.episodes)
        command = [
            FIELDMARK, "run", "--no-probe", "--benchmark", str(folder / "tasks.jsonl"),
            "--agent", options.agent, "--model", "scripted", "--base-url", server.url,
            "--parallel", str(options.parallel), "--out", str(folder / "soak"),
        ]  # fmt: skip
        env = {**os.environ, "XDG_RUNTIME_DIR": sockets, "TMPDIR": str(temporary)}
        began = time.monotonic()
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = watch(process, folder / "soak" / "episodes.jsonl", Path(sockets), temporary)
        code, took = process.wait(), time.monotonic() - began
        left = [*Path(sockets).iterdir(), *temporary.iterdir()]
    played = seen[-1][0]
    middle = [each for done, each in seen if done >= played / 4][:5]
    table = Table("of the run", "at a quarter", "most", "slope per 1,000 episodes")
    for number, what in enumerate(COUNTED):
        points = [(done, each[number]) for done, each in seen]
        table.add_row(
            what, f"{statistics.median(each[number] for each in middle):.0f}",
            f"{max(y for _, y in points):.0f}", f"{slope(points):+.1f}",
        )  # fmt: skip
    Console(width=110).print(
        table, f"{played} episodes at parallel {options.parallel} in {took:.0f} s, exit code {code}"
    )
    print(f"left behind: {len(left)} sockets and temporary files")


if __name__ == "__main__":
    main()
