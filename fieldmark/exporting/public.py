"""The public copy of a run: ids, predictions, verdicts, aggregates. Built beside, proved, put in place."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.failures.chain.current import current_breaks
from fieldmark.evals.failures.current import current_failures
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import write_html
from fieldmark.exporting import place
from fieldmark.exporting.excel import write_csv
from fieldmark.exporting.proof import Found, GoldSearch
from fieldmark.facts import facts_of_run
from fieldmark.findings import TraceFacts
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.user_file import sha256

EPISODE = {
    "id", "epoch", "attempt", "status", "agent", "model", "answer", "confidence", "seconds",
    "charged_seconds", "counts", "tokens", "role_tokens", "cost", "started", "trace",
}  # fmt: skip
"""Of an episode; neither its rationale nor the words of an error, which can quote pages and gold."""
VERDICT = {"id", "epoch", "label", "score", "judge", "finer"}
FACTS = set(TraceFacts.model_fields)
"""What the trace alone says; nothing that gold was needed for."""
FAILURE = {"id", "epoch", "taxonomy", "outcome", "label", "sub", "link", "stage", "classifier", "events"}
"""Of a failure; not the file that a hierarchy came from. Its events need no gold to be found."""
COLUMNS = (
    "id", "epoch", "status", "answer", "confidence", "verdict", "score", "finer", "judge", "seconds",
    "charged_seconds", "cost_usd",
)  # fmt: skip


@dataclass(frozen=True)
class Exported:
    """`found` is gold in what was to be published; then nothing was. `searched`: phrases and links."""

    files: list[str]
    searched: int
    too_short: int
    found: list[Found]


def export_public(run: RunDir, out: Path, *, traces: bool = False) -> Exported:
    """Write the public copy of `run` to the new folder `out`, unless gold is found in it.

    UsageError: `out` is there already or cannot be written; the gold of a task is not here to search for.
    """
    search = gold_search(run)
    with place.new(out) as beside:
        beside.mkdir()
        _write(run, beside, traces=traces)
        files = sorted(path.relative_to(beside).as_posix() for path in beside.rglob("*") if path.is_file())
        found = [each for name in files for each in search.in_file(beside / name, name)]
        exported = Exported(files, len(search), search.short, found)
        if found:
            shutil.rmtree(beside)
        else:
            _write_list(run, beside, exported)
    return exported


def gold_search(run: RunDir) -> GoldSearch:
    """For the gold of every task of a run. UsageError: that of one is not here, so nothing can be proved."""
    gold = run.gold()
    lacking = [row["id"] for row in run.tasks() if row["id"] not in gold]
    if lacking or not gold:
        which = f"the gold of task {lacking[0]!r}" if lacking else "gold"
        raise UsageError(
            f"{run.gold_file} lacks {which}, so nothing can be proved: export where the run was made"
        )
    return GoldSearch(gold)


def _write(run: RunDir, out: Path, *, traces: bool) -> None:
    records, verdicts = run.episodes(), run.verdicts()
    facts = facts_of_run(run)
    summary = summarise(run, facts=facts).model_copy(update={"episodes": []})  # its rows are in results.csv
    _write_json(out / "run.json", _config(run.config()))
    jsonl.write_all(
        out / "tasks.jsonl",
        [{"id": row["id"], "source_sha256": row.get("source_sha256")} for row in run.tasks()],
    )
    jsonl.write_all(out / "episodes.jsonl", [_episode(record) for record in records])
    jsonl.write_all(
        out / "verdicts.jsonl", [each.model_dump(mode="json", include=VERDICT) for each in verdicts.values()]
    )
    jsonl.write_all(
        out / "facts.jsonl", [each.trace.model_dump(mode="json", include=FACTS) for each in facts.values()]
    )
    if failures := current_failures(run):
        rows = [each.model_dump(mode="json", include=FAILURE) for each in failures.values()]
        jsonl.write_all(out / "failures.jsonl", rows)
    if broken := current_breaks(run, cells(run)):
        rows = [each.model_dump(mode="json") for each in broken.values()]  # reasons and events are elsewhere
        jsonl.write_all(out / "chain_breaks.jsonl", rows)
    _write_json(out / "summary.json", summary.model_dump(mode="json"))
    write_html([summary], out / "report.html")
    write_csv(out / "results.csv", COLUMNS, [_result(each, verdicts.get(each.key)) for each in records])
    if traces:
        (out / "traces").mkdir()
        for record in records:
            name = Path(record.trace).name
            shutil.copyfile(run.traces / name, out / "traces" / name)


def _config(config: dict[str, Any]) -> dict[str, Any]:
    """run.json without the hosts that no run opens: records of the pictures, which can be evidence."""
    return {key: _without_guard(value) for key, value in config.items()}


def _without_guard(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != "guard"} if isinstance(part, dict) else part


def _episode(record: EpisodeRecord) -> dict[str, Any]:
    row = record.model_dump(mode="json", include=EPISODE)
    if record.error:
        row["error"] = {"boundary": record.error.boundary, "kind": record.error.kind, "message": ""}
    return row


def _result(record: EpisodeRecord, verdict: Verdict | None) -> list[object]:
    judged = (verdict.label, verdict.score, verdict.finer, verdict.judge) if verdict else (None,) * 4
    label, score, finer, judge = judged
    return [
        record.id, record.epoch, record.status, record.answer, record.confidence, label, score,
        finer, judge, record.seconds, record.charged_seconds, record.cost,
    ]  # fmt: skip


def _write_list(run: RunDir, out: Path, exported: Exported) -> None:
    """export.json: what was written, and what was searched for in it."""
    told = {
        "run": run.path.name,
        "files": {name: sha256(out / name) for name in exported.files},
        "proof": {"searched": exported.searched, "too_short": exported.too_short, "found": 0},
    }
    _write_json(out / "export.json", told)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    path.write_bytes(f"{text}\n".encode("utf-8", "replace"))
