"""What starting costs before any episode begins, in CPU seconds: the least of several fresh processes.

`fieldmark --version`; `fieldmark run` with a built-in model to its first container; and, in a container of
the image, Python and what it imports. Other programs on the machine only ever add.

    make bench    or    .venv/bin/python -m benchmarks.start --write
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._cost import costing, session_seconds
from benchmarks._tables import write_section
from fieldmark.sandbox import container, image
from fieldmark.sandbox.engine import connect

MARK = "start"
"""The section of docs/performance.md."""
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An environment in which a checkout is compiled once, as a package is when it is installed."""
VERSION, RUN = "`fieldmark --version`", "`fieldmark run` with a built-in model, to its first container"
AIMS = {VERSION: 0.15, RUN: 1.0}
WORKER = "from fieldmark.agents import worker; worker._warm(worker.get_agent({agent!r}))"
IMPORTS = {
    "Python itself, in a container": "pass",
    "and `socket`, `json`": "import socket, json",
    "and the whole worker with `closed_book`": WORKER.format(agent="closed_book"),
    "`import langgraph.graph` alone": "import langgraph.graph",
    "and the whole worker with `react`, LangGraph and all tools": WORKER.format(agent="react"),
}


def seconds_to_container(runs: int) -> float:
    """Of a whole run of one task, what it had taken when the engine told of its first container."""
    with tempfile.TemporaryDirectory() as name:
        return min(_run(Path(name) / f"start-{os.getpid()}-{number}") for number in range(runs + 1))


def _run(out: Path) -> float:
    command = [
        FIELDMARK, "run", "--benchmark", "fieldmark-mini", "--agent", "closed_book",
        "--model", "builtin/scout", "--limit", "1", "--out", str(out),
    ]  # fmt: skip
    leader: list[int] = []
    label = f"{container.LABEL}={out.name}"
    with costing(connect(), label, 1, lambda: session_seconds(leader[0])) as found:
        process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=INSTALLED
        )
        leader.append(process.pid)
        told = process.communicate()[1]
        assert process.returncode == 0, told.decode()
    return found[0].began


def _seconds_of_version() -> float:
    before = os.times()
    subprocess.run([FIELDMARK, "--version"], check=True, capture_output=True, env=INSTALLED)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _seconds_inside(picture: str, code: str) -> float:
    """Processor seconds of a Python in a container, from its start to the end of `code`."""
    told = f"import time\n{code}\nprint(time.process_time())"
    command = ["docker", "run", "--rm", "--network", "none", picture, container.PYTHON, "-c", told]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def as_markdown(runs: int) -> str:
    """Both tables; what takes more than its aim is bold."""
    picture = image.require(connect())
    commands = {VERSION: min(_seconds_of_version() for _ in range(runs)), RUN: seconds_to_container(runs)}
    inside = {
        what: min(_seconds_inside(picture, code) for _ in range(runs)) for what, code in IMPORTS.items()
    }
    return "\n".join(
        [
            f"CPU seconds, the least of {runs} fresh processes; bytecode is compiled before:",
            "",
            "| | CPU s | aim |",
            "|---|---|---|",
            *(
                f"| {what} | {_marked(seconds, AIMS[what])} | {AIMS[what]:g} |"
                for what, seconds in commands.items()
            ),
            *(f"| {what} | {seconds:.3f} | |" for what, seconds in inside.items()),
        ]
    )


def _marked(seconds: float, most: float) -> str:
    return f"**{seconds:.2f}**" if seconds > most else f"{seconds:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    options = parser.parse_args()
    text = as_markdown(options.runs)
    print(text)
    if options.write:
        write_section(MARK, text, "performance.md")


if __name__ == "__main__":
    main()
