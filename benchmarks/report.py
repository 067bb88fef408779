"""`fieldmark report` on large runs: seconds of the processor, and kB of a page, which do not grow with it.

Runs of invented episodes: five categories, two splits, 40 mid categories, three facets, a verdict and a class
of failure each, and a short trace. Twice the episodes should take twice the seconds, not more: `s per 1,000`
stays what it is.

    make bench    or    .venv/bin/python -m benchmarks.report --episodes 100000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fieldmark import jsonl
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import write_html
from fieldmark.findings import Failure, FailureLabel
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir, episode_key

CLASSES: tuple[FailureLabel, ...] = ("visual_grounding", "wrong_entity_retrieval", "neighbour_confusion")
TOOLS = ("ocr", "crop_zoom", "aircraft_registry", "web_search")


def write_run(path: Path, episodes: int) -> RunDir:
    """A third of the answers are right."""
    run = RunDir.create(path)
    run.write_config({"name": "large", "agent": "react", "state": "finished", "model": {"name": "m"}})
    run.write_tasks([_task(n) for n in range(episodes)], {})
    rows: list[EpisodeRecord] = []
    for n in range(episodes):
        name, seconds = f"task-{n}", 1.0 + n * 7 % 2400 / 10
        trace = f"{episode_key(name)}.jsonl"
        (run.traces / trace).write_bytes(b"".join(map(jsonl.encode, _trace(n))))  # unsynced: they are many
        rows.append(
            EpisodeRecord(
                id=name, status="answered", agent="react", model="m", answer=f"Saab {n}", seconds=seconds,
                charged_seconds=seconds, started="2026-11-30T10:00:00Z", trace=trace,
            )
        )  # fmt: skip
    jsonl.write_all(run.episodes_file, [row.model_dump(mode="json") for row in rows])
    jsonl.write_all(run.verdicts_file, [_verdict(n).model_dump(mode="json") for n in range(episodes)])
    jsonl.write_all(run.failures_file, [_failure(n) for n in range(episodes) if n % 3])
    return run


def _task(n: int) -> dict[str, Any]:
    facets = {f"facet {each}": f"kind {n // each % 8}" for each in (1, 2, 3)}
    labels = {"split": f"s{n % 2}", "top": f"top {n % 5}", "mid": f"mid {n % 40}", "facets": facets}
    return {"id": f"task-{n}", "question": "?", "labels": labels}


def _trace(n: int) -> list[dict[str, Any]]:
    call = {"by": "sandbox", "call": "c", "name": TOOLS[n % 4], "door": "graph", "arguments": {}}
    return [
        {"seq": 0, "t": 0.1, "kind": "tool_call", **call},
        {"seq": 1, "t": 0.2, "by": "sandbox", "kind": "tool_result", "call": "c", "ok": True, "seconds": 0.1},
    ]


def _verdict(n: int) -> Verdict:
    return Verdict(id=f"task-{n}", label="incorrect" if n % 3 else "correct", score=0.0, judge="exact")


def _failure(n: int) -> dict[str, Any]:
    return Failure(
        id=f"task-{n}", taxonomy=VERSION, outcome="incorrect", label=CLASSES[n % 7 % 3], stage="facts",
        classifier="facts",
    ).model_dump(mode="json")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--episodes", type=int, default=100_000, help="Of the largest run.  [default: 100000]"
    )
    largest = parser.parse_args().episodes
    table = Table("episodes", "figures, s", "page, s", "s per 1,000", "kB of page", "MB at most")
    for episodes in (largest // 10, largest // 2, largest):
        with tempfile.TemporaryDirectory() as folder:
            run = write_run(Path(folder) / "large", episodes)
            begun = time.process_time()
            summary = summarise(run)
            counted = time.process_time()
            write_html([summary], run.report_html)
            drawn = time.process_time()
            size = run.report_html.stat().st_size / 1000
            figures = (counted - begun, drawn - counted, 1000 * (drawn - begun) / episodes)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            table.add_row(
                f"{episodes:,}", *(f"{value:.2f}" for value in figures), f"{size:.0f}", f"{most:.0f}"
            )
    Console().print(table)


if __name__ == "__main__":
    main()
