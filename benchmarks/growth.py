"""How time and memory grow with the episodes of a run: written, asked by SQL, counted for the summary.

Runs of 100 invented episodes of 12 events each and more. `write traces` is the gateway's own tracer, without
the `fsync` of a commit; the others are processes of their own. The first command over a run reads every trace
(`first summary`), later ones what it kept. Seconds of the processor; memory is the peak.

    make bench    or    .venv/bin/python -m benchmarks.growth --write
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks._tables import DOCS, markdown, write_section
from benchmarks.inspector import events
from fieldmark import jsonl
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, Leak, Verdict
from fieldmark.rundir import RunDir, episode_key
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.tracer import Tracer
from fieldmark.task import Gold

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
EVENTS = 12
"""Of each episode: three model calls and three tool calls, about the shape of a short `react` episode."""
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))
SUMMARY = (
    "import sys; from pathlib import Path; from fieldmark.evals.metrics.summary import summarise; "
    "from fieldmark.rundir import RunDir; summarise(RunDir.open(Path(sys.argv[1])))"
)
ASKED = {
    "sql verdicts": "SELECT label, count(*) FROM verdicts GROUP BY label",
    "sql episodes": "SELECT status, count(*), avg(seconds) FROM episodes GROUP BY status",
}


@dataclass(frozen=True)
class Grown:
    """One figure: processor seconds and MB at the most, of so many episodes. `more` is told beside it."""

    what: str
    episodes: int
    seconds: float
    megabytes: float | None = None
    more: str = ""

    def __str__(self) -> str:
        memory = f", {self.megabytes:.0f} MB" if self.megabytes else ""
        return f"{self.seconds:.2f} s{memory}{self.more}"


def write_run(path: Path, episodes: int) -> tuple[RunDir, float]:
    """A finished run, its traces by the gateway's own writer; processor seconds of these alone."""
    run, rows = RunDir.create(path), [dict(row) for row in events(EVENTS)]
    run.write_config({"agent": "react", "state": "finished", "benchmark": {"name": "invented"}, "config": {}})
    ids = [f"task-{n}" for n in range(episodes)]
    labels = [{"split": "public", "top": f"class {n % 10}"} for n in range(episodes)]
    run.write_tasks(
        [{"id": each, "question": "?", "labels": label} for each, label in zip(ids, labels, strict=True)],
        {each: Gold(answer="Saab 340", source="invented") for each in ids},
    )
    begun = time.process_time()
    for each in ids:
        tracer = Tracer(run.traces / f"{episode_key(each)}.jsonl", Clock())
        for row in rows:
            tracer.write(row["by"], row["kind"], {k: v for k, v in row.items() if k not in SET_BY_TRACER})
        tracer.close()
    seconds = time.process_time() - begun
    for file, found in (
        (run.episodes_file, (record(n, each) for n, each in enumerate(ids))),
        (run.verdicts_file, (Verdict(id=each, label="incorrect", score=0.0, judge="exact") for each in ids)),
        (run.facts_file, (TraceFacts(id=each) for each in ids)),
        (run.gold_facts_file, (GoldFacts(id=each) for each in ids)),
        (run.leaks_file, (Leak(id=each, copied=False, leaked=False, ways=[]) for each in ids)),
    ):
        jsonl.write_all(file, [row.model_dump(mode="json", exclude_none=True) for row in found])
    return run, seconds


SET_BY_TRACER = frozenset({"seq", "t", "by", "kind"})


def record(n: int, task: str) -> EpisodeRecord:
    return EpisodeRecord(
        id=task, status="answered", agent="react", model="m", answer="Saab 340", seconds=n % 240,
        charged_seconds=n % 240, started="2026-11-30T10:00:00Z", trace=f"{episode_key(task)}.jsonl",
    )  # fmt: skip


def measured(what: str, episodes: int, command: list[str]) -> Grown:
    """A command's processor seconds, those of its children too, and its peak of memory."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    told = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, told.decode()
    return Grown(what, episodes, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def grow(episodes: int, folder: Path) -> Iterator[Grown]:
    """Every figure of a run of so many episodes."""
    run, seconds = write_run(folder / f"run-{episodes}", episodes)
    yield Grown("write traces", episodes, seconds, more=f", {EVENTS * episodes / seconds:,.0f} events/s")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    for what in ("first summary", "summary"):
        yield measured(what, episodes, [sys.executable, "-c", SUMMARY, str(run.path)])
    for what, query in ASKED.items():
        yield measured(what, episodes, [FIELDMARK, "sql", str(run.path), query])
    report = measured("report", episodes, [FIELDMARK, "report", str(run.path)])
    yield replace(report, more=f"; page {run.report_html.stat().st_size / 1e6:.1f} MB")


def plot(found: list[Grown], path: Path) -> None:
    """Time and memory against episodes, both axes logarithmic, as an SVG."""
    import vl_convert

    def panel(field: str, title: str) -> dict[str, Any]:
        rows = [
            {"what": row.what, "episodes": row.episodes, "y": getattr(row, field)}
            for row in found
            if getattr(row, field) is not None
        ]
        axis = {"type": "quantitative", "scale": {"type": "log"}}
        return {
            "width": 300,
            "height": 220,
            "data": {"values": rows},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "episodes", **axis},
                "y": {"field": "y", "title": title, **axis},
                "color": {"field": "what", "type": "nominal", "title": None},
            },
        }

    panels = [panel("seconds", "CPU seconds"), panel("megabytes", "MB at most")]
    spec = {"$schema": SCHEMA, "background": "white", "hconcat": panels}
    path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def as_markdown(found: list[Grown]) -> str:
    """A row a size, a column a command."""
    names = list(dict.fromkeys(row.what for row in found))
    table = Table("episodes", *names)
    for size in dict.fromkeys(row.episodes for row in found):
        told = {row.what: str(row) for row in found if row.episodes == size}
        table.add_row(f"{size:,}", *(told[name] for name in names))
    return markdown(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=100_000, help="episodes of the largest run")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md and docs/growth.svg")
    options = parser.parse_args()
    found: list[Grown] = []
    for size in (10**power for power in range(2, 7) if 10**power <= options.most):
        with tempfile.TemporaryDirectory() as name:
            for row in grow(size, Path(name)):
                found.append(row)
                print(f"{row.episodes:>9,}  {row.what:14} {row}", flush=True)
    text = as_markdown(found)
    print(f"\n{text}")
    if options.write:
        write_section("growth", text, "performance.md")
        plot(found, DOCS / "growth.svg")


if __name__ == "__main__":
    main()
