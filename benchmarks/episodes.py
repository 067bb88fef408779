"""What an episode costs beside its model, against the least that a container can cost, in one sitting.

A scripted model of 50 ms; `closed_book` makes one model call, `react` two and one tool call. The floors:
(a) plain `docker run --init --network none`, `exec true`, `rm -f` of the same image; (b) the same with
`import langgraph.graph`. Floor and agent take turns, and the best of the rounds counts: what other programs
on the machine take is only ever added. Wall and processor time run from the first container's creation to
the last one's end, wall less the model's own; `command` is all that the command took, with imports, tables
and report. On a busy machine read the ratio of processor seconds; the wall ratio needs an idle one.

Before, the start of a run (`benchmarks.start`); then task photos of several sizes. The first round measures
everything, later ones begin nothing once `--minutes` are over. `--write` puts tables and plots into docs/.

    make bench    or    .venv/bin/python -m benchmarks.episodes --write
"""

from __future__ import annotations

import argparse
import json
import math
import os
import secrets
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from PIL import Image

from benchmarks._cost import costing, session_seconds
from benchmarks._episode_tables import MARK, Measured, Ran, as_markdown, line, plot
from benchmarks._floors import floor
from benchmarks._tables import DOCS, write_section
from benchmarks.start import AIMS, FIELDMARK, INSTALLED, RUN, seconds_to_container
from fieldmark.rundir import RunDir
from fieldmark.sandbox import image
from fieldmark.sandbox.engine import connect
from tests.model_server import Body, Call, ModelServer, Reply

DELAY = 0.05
MODEL_CALLS = {"closed_book": 1, "react": 2}
SIZES = (0.1, 1.0, 6.0, 24.0)
"""Megapixels of a task photo."""
SIZE_PARALLEL = 4


def scripted(body: Body) -> Reply:
    """A crop first where there are tools, then the answer."""
    if not body.get("tools"):
        return Reply('{"answer": "grey"}', delay=DELAY)
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "grey"})], delay=DELAY)
    return Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 300, "y2": 200})], delay=DELAY)


def run(agent: str, parallel: int, n: int, url: str, folder: Path) -> Ran:
    """One `fieldmark run` as a user starts it."""
    out = folder / f"bench-{secrets.token_hex(4)}"
    command = [
        FIELDMARK, "run", "--no-probe", "--benchmark", str(folder / "tasks.jsonl"), "--agent", agent,
        "--model", "scripted", "--base-url", url, "--parallel", str(parallel), "--limit", str(n),
        "--out", str(out),
    ]  # fmt: skip
    leader: list[int] = []
    label = f"fieldmark={out.name}"
    with costing(connect(), label, n, lambda: session_seconds(leader[0])) as found:
        process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=INSTALLED
        )
        leader.append(process.pid)
        assert process.stdout
        try:
            told = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:  # Ctrl-C does not reach a session of its own
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
    assert status == 0, told.decode()
    folder_of_run = RunDir.open(out)
    records = folder_of_run.episodes()
    assert [record.status for record in records] == ["answered"] * n, {record.status for record in records}
    traces = [list(folder_of_run.trace(record)) for record in records]
    first = [next(event.t for event in trace if event.kind == "model_request") for trace in traces]
    model = MODEL_CALLS[agent] * DELAY
    return Ran(
        found[0], used.ru_utime + used.ru_stime, first, [trace[-1].t - model for trace in traces],
        found[0].each - model / parallel, kilobytes(folder_of_run) / n, used.ru_maxrss / 1000, model,
    )  # fmt: skip


def kilobytes(run: RunDir) -> float:
    """Of all that episodes add to a run folder but pictures."""
    texts = [path for path in run.blobs.iterdir() if ".txt" in path.name]
    rows = [run.episodes_file, run.verdicts_file, run.facts_file]
    return sum(path.stat().st_size for path in (*texts, *rows, *run.traces.iterdir())) / 1000


def make_tasks(folder: Path, n: int, megapixels: float = 0.96) -> None:
    """`n` questions about one picture, three wide and two high."""
    height = round(math.sqrt(megapixels * 1e6 / 1.5))
    noise = Image.effect_noise((height * 3 // 2, height), 40).convert("RGB")
    noise.save(folder / "noise.jpg", quality=90)
    gold = {"answer": "grey", "source": "drawn"}
    rows = [
        {"id": f"t{i}", "question": "What is this?", "image": "noise.jpg", "gold": gold} for i in range(n)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def sizes(agents: list[str], n: int, url: str) -> dict[tuple[str, float], Ran]:
    """Each agent on photos of each of SIZES."""
    found = {}
    for megapixels in SIZES:
        with tempfile.TemporaryDirectory() as name:
            make_tasks(Path(name), n, megapixels)
            for agent in agents:
                ran = found[agent, megapixels] = run(agent, SIZE_PARALLEL, n, url, Path(name))
                print(
                    f"{agent}, {megapixels:g} MP: {ran.beside:.3f} s an episode, "
                    f"{ran.whole:.1f} CPU s and {ran.megabytes:.0f} MB the command",
                    flush=True,
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=12.0, help="after these no later round goes on")
    parser.add_argument("--agents", nargs="+", default=list(MODEL_CALLS), choices=list(MODEL_CALLS))
    parser.add_argument("--write", action="store_true", help="into docs/performance.md and docs/episodes.svg")
    options = parser.parse_args()
    began, n, picture = time.monotonic(), options.episodes, image.require(connect())
    print(f"{RUN}: {seconds_to_container(3):.2f} CPU s (aim {AIMS[RUN]:g})", flush=True)
    found = {(a, p): Measured(a, p) for a in options.agents for p in options.parallel}
    by_size: dict[tuple[str, float], Ran] = {}
    with tempfile.TemporaryDirectory() as name, ModelServer(scripted, keep=False) as server:
        make_tasks(Path(name), n)
        for number in range(options.rounds):
            for each in found.values():
                if number and time.monotonic() - began > 60 * options.minutes:
                    break
                each.floors.append(floor(each.against, picture, each.parallel, n))
                each.runs.append(run(each.agent, each.parallel, n, server.url, Path(name)))
                print(line(each), flush=True)
            if number == 0:
                by_size = sizes(options.agents, max(n // 4, 4), server.url)
    text = as_markdown(list(found.values()), n)
    print(f"\n{text}")
    if options.write:
        write_section(MARK, text, "performance.md")
        plot(list(found.values()), by_size, DOCS / "episodes.svg")


if __name__ == "__main__":
    main()
