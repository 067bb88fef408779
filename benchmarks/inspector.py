"""`fieldmark view` on a large run: seconds until a page is whole, and the memory of the server.

5,000 episodes of 40 events each and one of 20,000, invented: 220,000 events. `first` reads the run's files,
`again` finds them unchanged. Seconds of the processor, so that a busy machine tells the same. `memory now` is
what the server holds after a page; the pages of the long trace must leave that as it was, which the last line
tells: what it held after the first of forty and after the last.

    make bench    or    .venv/bin/python -m benchmarks.inspector --episodes 5000
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
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.timeline import WINDOW
from fieldmark.findings import TraceFacts
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir, episode_key

LONG, SHORT = 20_000, 40
"""Events of the long trace and of every other."""
STEPS = range(1, 40 * WINDOW, WINDOW)
"""Where the pages begin that are turned in the long trace."""


def events(count: int) -> list[dict[str, Any]]:
    """Model calls and readings by turns."""
    rows: list[dict[str, Any]] = []
    for n in range(count // 4):
        model = {"by": "gateway", "call": f"m{n}"}
        tool = {"by": "sandbox", "call": f"c{n}"}
        rows += [
            {**model, "kind": "model_request", "wire": "chat_completions", "model": "m", "asked": {},
             "sent": {}, "tools": ["ocr"] * 10, "messages": ["0" * 64] * 20, "pictures": []},
            {**model, "kind": "model_response", "http": 200, "seconds": 0.1, "text": "word " * 60},
            {**tool, "kind": "tool_call", "name": "ocr", "door": "graph", "arguments": {"mode": "text"}},
            {**tool, "kind": "tool_result", "ok": True, "seconds": 0.1, "text": "read " * 100},
        ]  # fmt: skip
    return [{"seq": seq, "t": seq / 10, **row} for seq, row in enumerate(rows)]


def write_run(path: Path, episodes: int) -> RunDir:
    """The first episode has the long trace."""
    run, short = RunDir.create(path), events(SHORT)
    run.write_config(
        {"name": "large", "agent": "react", "state": "finished", "started": "2026-11-30T10:00:00Z"}
    )
    ids = [f"task-{n}" for n in range(episodes)]
    run.write_tasks([{"id": each, "question": "?", "labels": {"top": each[-1]}} for each in ids], {})
    rows = []
    for n, each in enumerate(ids):
        trace = f"{episode_key(each)}.jsonl"
        jsonl.write_all(run.traces / trace, short if n else events(LONG))
        seconds = n % 240
        rows.append(
            EpisodeRecord(
                id=each, status="answered", agent="react", model="m", answer="Saab 340", seconds=seconds,
                charged_seconds=seconds, started="2026-11-30T10:00:00Z", trace=trace,
            )
        )  # fmt: skip
    jsonl.write_all(run.episodes_file, [row.model_dump(mode="json") for row in rows])
    verdicts = [Verdict(id=each, label="incorrect", score=0.0, judge="exact") for each in ids]
    jsonl.write_all(run.verdicts_file, [row.model_dump(mode="json") for row in verdicts])
    jsonl.write_all(run.facts_file, [TraceFacts(id=each).model_dump(mode="json") for each in ids])
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=5000)
    held: list[float] = []
    table = Table("page", "s", "kB", "MB of memory now", "at most")
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder) / "large", parser.parse_args().episodes)
        app = make_app(Library([Path(folder)]), GatewayRequests(), {"127.0.0.1"}, None)
        client = TestClient(app, base_url="http://127.0.0.1")
        long = f"/run/large/episode/{episode_key('task-0')}"
        for name, url in (
            ("episodes, first", "/run/large/"),
            ("episodes, again", "/run/large/"),
            ("filtered and sorted, page 9", "/run/large/?verdict=incorrect&sort=seconds&down=1&page=9"),
            ("by tool, first", "/run/large/?tool=ocr"),
            ("by tool, again", "/run/large/?tool=ocr"),
            ("20,000 events, begin", long),
            ("20,000 events, middle", f"{long}?at={LONG // 2}"),
            ("one event of them", f"{long}/event/{LONG // 2}"),
            *((f"paged through, step {step}", f"{long}?step={step}") for step in STEPS),
        ):
            begun = time.process_time()
            page = client.get(url).raise_for_status().content
            row = (time.process_time() - begun, len(page) / 1000, *memory())
            if "paged" not in name or name.endswith((f" {STEPS[0]}", f" {STEPS[-1]}")):
                table.add_row(name, *(f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in row))
            if "paged" in name:
                held.append(row[2])
    Console().print(table)
    print(
        f"{len(held)} pages of the long trace: {held[0]:.1f} MB after the first, "
        f"{held[-1]:.1f} after the last, {max(held):.1f} at most"
    )


def memory() -> tuple[float, float]:
    """MB that this process holds, and the most that it ever held."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize() / 1e6, most / 1000


if __name__ == "__main__":
    main()
