"""Does stage one of the failure taxonomy find how scripted agents fail? Synthetic κ, not one on real traces.

Every agent of `failing_agents/` runs over tasks of fieldmark-mini in the real sandbox; facts alone classify
its answers; its own label is known by how it is made. What facts leave open counts as a class of its own, so
it counts as a disagreement. An answer that happens to be right is no failure, and is told apart.

    .venv/bin/python -m benchmarks.failure_taxonomy [--out FOLDER] [--modes sleeps,crashes] [--write]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks._tables import write_section
from benchmarks.failing_modes import MODES, Mode
from fieldmark.classifying import classify_run
from fieldmark.evals.failures.agreement import Agreement, agreement
from fieldmark.evals.failures.current import current_failures
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.shares import wilson
from fieldmark.evals.report.figures import interval
from fieldmark.findings import Failure
from fieldmark.rundir import RunDir
from tests.model_server import Body, Call, ModelServer, Reply

AGENTS = Path(__file__).with_name("failing_agents")
HIERARCHY = AGENTS / "hierarchy.tsv"
SHARED = ("player.py", "reading.py")
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))
CUE = "PLAY "
OPEN = "(open)"


def puppet(body: Body) -> Reply:
    """Says and calls what the last message asks for."""
    cue = body["messages"][-1]["content"][-1]["text"]
    turn = json.loads(cue.removeprefix(CUE))
    calls = [Call(call["name"], call["arguments"]) for call in turn.get("calls", [])]
    return Reply(turn.get("text"), calls=calls)


@dataclass(frozen=True)
class Trace:
    """One answer that is not correct, with the word of stage one on it."""

    mode: Mode
    row: Failure

    @property
    def pair(self) -> tuple[str, str]:
        return self.mode.label, self.row.label or OPEN


def run_mode(mode: Mode, url: str, folder: Path, parallel: int = 3) -> RunDir:
    """One `fieldmark run` as a user starts it."""
    agent = folder / "agents" / mode.name
    agent.mkdir(parents=True)
    shutil.copy(AGENTS / f"{mode.name}.py", agent / "agent.py")
    for name in SHARED:
        shutil.copy(AGENTS / name, agent)
    options = [str(AGENTS / option) if option.endswith(".py") else option for option in mode.options]
    command = [
        FIELDMARK, "run", "--no-probe", "--benchmark", "fieldmark-mini", "--agent", str(agent),
        "--model", "scripted", "--base-url", url, "--parallel", str(parallel),
        "--tasks", ",".join(f"mini-{number:02}" for number in mode.tasks),
        "--out", str(folder / mode.name), *options,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{mode.name}: {done.stderr.strip()}")
    return RunDir.open(folder / mode.name)


def traces_of(mode: Mode, run: RunDir, hierarchy: Path | None) -> list[Trace]:
    """Its answers that are not correct, classified by facts alone."""
    classify_run(run, hierarchy=hierarchy)
    return [Trace(mode, row) for row in current_failures(run).values()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="Keep the run folders here; those that are there stay.")
    parser.add_argument("--modes", default=",".join(mode.name for mode in MODES))
    parser.add_argument("--limit", type=int, help="Only so many tasks of each script.")
    parser.add_argument("--parallel", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="Into docs/taxonomy.md too.")
    options = parser.parse_args()
    named = [mode for mode in MODES if mode.name in options.modes.split(",")]
    modes = [replace(mode, tasks=mode.tasks[: options.limit]) for mode in named]
    with tempfile.TemporaryDirectory() as name, ModelServer(puppet) as server:
        folder = options.out or Path(name)
        runs = {mode: _run(mode, server.url, folder, options.parallel) for mode in modes}
        text = "\n".join(_measured(runs))
    print(text)
    if options.write:
        write_section("failures", text, "taxonomy.md")


def _measured(runs: dict[Mode, RunDir]) -> Iterator[str]:
    """With the hierarchy of `failing_agents/`, and without: what no source relates, facts cannot."""
    for title, hierarchy in (
        ("With `hierarchy.tsv`", HIERARCHY),
        ("Without a hierarchy of the user's", None),
    ):
        traces = [trace for mode, run in runs.items() for trace in traces_of(mode, run, hierarchy)]
        yield f"\n### {title}\n"
        yield from report(traces, list(runs.values()))


def _run(mode: Mode, url: str, folder: Path, parallel: int) -> RunDir:
    if (folder / mode.name / "run.json").exists():
        return RunDir.open(folder / mode.name)
    print(f"running {mode.name} …", file=sys.stderr, flush=True)
    return run_mode(mode, url, folder, parallel)


def report(traces: Sequence[Trace], runs: Sequence[RunDir]) -> Iterator[str]:
    """Markdown: κ, precision and recall of each class, the confusion matrix, links, what was left open."""
    outcomes = Counter(cell.outcome for run in runs for cell in cells(run))
    apart = {what: outcomes[what] for what in ("correct", "sandbox_error", "unjudged") if outcomes[what]}
    told = ", ".join(f"{n} {what}" for what, n in apart.items()) or "none"
    yield f"{sum(outcomes.values())} episodes, {len(traces)} not correct and judged; told apart: {told}.\n"
    whole = agreement("script", "facts", [trace.pair for trace in traces])
    by_facts = agreement("script", "facts", [trace.pair for trace in traces if trace.mode.by_facts])
    yield "| traces | n | synthetic κ | 95 % CI | the same class, 95 % CI |\n|---|---|---|---|---|"
    yield _kappa("all", whole)
    yield _kappa("of the scripts that facts can decide", by_facts)
    yield from _classes(whole)
    yield from _matrix(whole)
    yield from _details(traces)


def _kappa(name: str, found: Agreement) -> str:
    kappa = "–" if found.kappa is None else f"{found.kappa:.2f}"
    around = "–".join(f"{bound:.2f}" for bound in found.interval) if found.interval else found.why
    raw = f"{_share(int(found.raw.count), found.n)}, {interval(wilson(found.raw))}"
    return f"| {name} | {found.n} | {kappa} | {around} | {raw} |"


def _classes(found: Agreement) -> Iterator[str]:
    yield "\n| class | precision | recall |\n|---|---|---|"
    for place, label in enumerate(found.classes):
        if label != OPEN:
            hits = found.matrix[place][place]
            said, are = sum(row[place] for row in found.matrix), sum(found.matrix[place])
            yield f"| `{label}` | {_share(hits, said)} | {_share(hits, are)} |"


def _share(k: int, n: int) -> str:
    return f"{100 * k / n:.1f} % ({k}/{n})" if n else "– (0/0)"


def _matrix(found: Agreement) -> Iterator[str]:
    yield "\n| script ↓ facts → | " + " | ".join(found.classes) + " |"
    yield "|---" * (len(found.classes) + 1) + "|"
    for label, row in zip(found.classes, found.matrix, strict=True):
        if label != OPEN:
            yield f"| **{label}** | " + " | ".join(str(n) if n else "" for n in row) + " |"


def _details(traces: Sequence[Trace]) -> Iterator[str]:
    subs = [trace for trace in traces if trace.mode.sub and trace.row.label == trace.mode.label]
    links = [trace for trace in traces if trace.mode.link and trace.row.label]
    same_sub = sum(trace.row.sub == trace.mode.sub for trace in subs)
    same_link = sum(trace.row.link == trace.mode.link for trace in links)
    yield f"\nSub-class, where the class is right: {_share(same_sub, len(subs))}."
    yield f"Link, where the script fixes it and facts decide: {_share(same_link, len(links))}."
    yield "\n| script | class | n | found as |\n|---|---|---|---|"
    for mode in dict.fromkeys(trace.mode for trace in traces):
        words = Counter(_word(trace) for trace in traces if trace.mode == mode)
        found = ", ".join(f"{word} {n}" for word, n in words.most_common())
        yield f"| `{mode.name}` | {mode.label} | {words.total()} | {found} |"


def _word(trace: Trace) -> str:
    return trace.row.label or f"open: {trace.row.why_open}"


if __name__ == "__main__":
    main()
