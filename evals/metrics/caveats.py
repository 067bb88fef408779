"""What a reader must know before believing the tables: damaged files, odd labels, suspicious answers."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from fieldmark import jsonl
from fieldmark.counting import counted
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.sight import SightFacts
from fieldmark.rundir import RunDir

SHOWN = 10
"""Episodes that a sentence names."""
_ERROR_TEXT = re.compile(
    r"\s*(?:API call failed|Error code: \d{3}|Traceback \(most|HTTP \d{3}\b|RateLimitError|TimeoutError)",
    re.IGNORECASE,
)


def caveats_of(run: RunDir, cells: list[Cell], without_trace: int) -> list[str]:
    """One sentence each; empty when there is nothing to say."""
    damaged = [
        line for path in (run.episodes_file, run.verdicts_file, run.tasks_file) for line in damage(path)
    ]
    damaged += [
        f"{name}: {counted(count, 'row is', 'rows are')} not what this file holds: skipped"
        for name, count in run.unreadable().items()
    ]
    if not run.tasks_file.exists():
        damaged.append(f"{run.tasks_file.name} is missing: categories, and tasks not run, are unknown")
    found = [*damaged, *_pictures(run), *_doubled(run), *_case_variants(cells), *_suspicious(cells)]
    found += [*_searches(cells), *_provider(cells), *_native(cells), *_stopped(run), *_replies(cells)]
    if without_trace:
        found.append(
            f"{counted(without_trace, 'episode has', 'episodes have')} no readable trace: not in tool use"
        )
    return found


def sight_caveats(sight: SightFacts, probe: Any) -> list[str]:
    """Where a model that is said to see did not, or not all the time, or not the picture as it is."""
    found = []
    verdict, why = (probe.get("verdict"), probe.get("why")) if isinstance(probe, dict) else (None, None)
    if verdict in ("blind", "unclear"):
        found.append(f"the probe before the run: {why}")
    if sight.unseen:
        found.append(
            f"the picture never reached the model in {sight.none} of {counted(sight.episodes, 'episode')}: "
            f"{_some(sight.unseen)}"
        )
    if sight.lost:
        found.append(
            f"the model lost the picture on the way in {counted(len(sight.lost), 'episode')}: "
            f"{_some(sight.lost)}"
        )
    return found


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _searches(cells: list[Cell]) -> list[str]:
    """Episodes that had less of the search engine than the others, through no doing of the agent's."""
    counts = [cell.record.counts for cell in cells if cell.record]
    told = {
        "searches_failed": "a search failed that was not the agent's fault",
        "searches_missed": "a search was not among the recorded ones",
    }
    return [
        f"in {number} of {counted(len(counts), 'episode')} {what}: see the reasons in their `egress` events"
        for name, what in told.items()
        if (number := sum(bool(each.get(name)) for each in counts))
    ]


def _provider(cells: list[Cell]) -> list[str]:
    """Where the model's server searched the web itself, past every rule of the run."""
    counts = [cell.record.counts for cell in cells if cell.record]
    offered = sum(bool(each.get("provider_search_offers")) for each in counts)
    searches = sum(each.get("provider_searches", 0) for each in counts)
    what = "the model's server could search the web itself"
    return (
        [
            f"in {offered} of {len(counts)} episodes {what} ({searches} searches are told of): past"
            " --web, the guard list and the archive"
        ]
        if offered
        else []
    )


def _native(cells: list[Cell]) -> list[str]:
    """Agents of others count their own tool calls; the tables have what the gateway saw."""
    counts = [cell.record.counts for cell in cells if cell.record]
    counted = [each for each in counts if "native_tool_calls" in each]
    other = sum(each["native_tool_calls"] != each.get("acts") for each in counted)
    what = "the agent's own log has another number of tool calls than the gateway saw"
    return [f"in {other} of {len(counted)} episodes {what}"] if other else []


def _replies(cells: list[Cell]) -> list[str]:
    """Replies of the model that were given to another request, or at another time."""
    counts = [cell.record.counts for cell in cells if cell.record]
    drifted = [each["drift"] for each in counts if each.get("drift")]
    cached = sum(each.get("cached_calls", 0) for each in counts)
    found = []
    if drifted:
        found.append(
            f"drift in {len(drifted)} of {len(counts)} episodes: {counted(sum(drifted), 'request')} not as"
            " recorded, and given the recorded reply: see the `log` events"
        )
    if cached:
        calls = sum(each.get("model_calls", 0) + each.get("eyes_calls", 0) for each in counts)
        found.append(f"{cached} of {calls} model calls were answered from the cache")
    return found


def _pictures(run: RunDir) -> list[str]:
    """Where the agents did not have the pictures of the benchmark (`--image`)."""
    image = run.config().get("picture", "full") if run.run_json.exists() else "full"
    if image == "full":
        return []
    tasks = [row for row in run.tasks() if "view" in row]  # what is published has no pictures to count
    altered = sum(isinstance(row.get("altered"), dict) for row in tasks)
    which = f"{altered} of {counted(len(tasks), 'picture')}" if tasks else "the pictures"
    if image == "blank":
        return [f"image blank: {which} were grey of the same size, for all that looks"]
    return [f"image {image}: {which} were shrunk to {image} px a side, also for crops and searches"]


def _stopped(run: RunDir) -> list[str]:
    search = run.config().get("search") if run.run_json.exists() else None
    kind = search.get("stopped") if isinstance(search, dict) else None
    return [f"searching ended early ({kind}) and the run with it; --resume goes on"] if kind else []


def damage(path: Path) -> list[str]:
    """What of a file cannot be read, in a sentence each: the numbers of its lines, and a torn end."""
    lines = jsonl.read(path)
    found = []
    if lines.bad:
        found.append(f"{path.name}: unreadable lines {', '.join(map(str, lines.bad[:10]))} were skipped")
    if lines.torn:
        found.append(
            f"{path.name}: a half-written last line was ignored; `fieldmark run --resume` repairs it"
        )
    return found


def _doubled(run: RunDir) -> list[str]:
    rows = jsonl.read(run.episodes_file).rows
    extra = len(rows) - len({(row.get("id"), row.get("epoch", 0)) for row in rows})
    if not extra:
        return []
    return [
        f"{counted(extra, 'row of episodes.jsonl repeats', 'rows of episodes.jsonl repeat')} an episode: "
        "the last that is not our fault counts, once"
    ]


def _case_variants(cells: list[Cell]) -> list[str]:
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for label in {label for cell in cells for label in (cell.split, cell.top)}:
        spellings[label.casefold()].add(label)
    mixed = [" / ".join(sorted(names)) for names in spellings.values() if len(names) > 1]
    return [f"labels that differ only by case are kept apart: {name}" for name in sorted(mixed)]


def _suspicious(cells: list[Cell]) -> list[str]:
    count = sum(
        bool(cell.record and cell.record.status == "answered" and _ERROR_TEXT.match(cell.record.answer or ""))
        for cell in cells
    )
    read = counted(count, "answer reads", "answers read")
    return [f"{read} like an error message, not like an answer: see the episodes"] if count else []
