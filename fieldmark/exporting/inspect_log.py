"""A run as an Inspect AI log: `inspect view` and `inspect_ai.log.read_eval_log` open it.

A `.eval` file is a zip (schema version 2): `header.json` is the log without samples, `summaries.json` a line
for each sample, `samples/<id>_epoch_<n>.json` the samples. Written here, so that Inspect need not be there.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from fieldmark import __version__, jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.accuracy import strict_share
from fieldmark.evals.metrics.outcomes import DONE, cells
from fieldmark.exporting.episode import told
from fieldmark.exporting.inspect_messages import usage
from fieldmark.exporting.inspect_sample import Samples
from fieldmark.exporting.place import new
from fieldmark.records import EpisodeRecord, added
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.trace import Tokens

SCHEMA = 2
SCORE = "fieldmark"
"""Under this name each sample has its verdict."""
Json = dict[str, Any]


def export_inspect(run: RunDir, out: Path, *, private: bool) -> int:
    """Write the log `out`, a sample for each episode; how many. UsageError: it does not end in .eval."""
    if out.suffix != ".eval":
        raise UsageError(f"--inspect {out}: Inspect reads files that end in .eval: name one")
    summaries: list[Json] = []
    samples = Samples(run.blob_store(), SCORE)
    with new(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for episode in told(run, private=private):
            sample = samples.sample(episode)
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, jsonl.encode(sample))
            summaries.append(samples.summary(sample))
        archive.writestr("summaries.json", jsonl.encode(summaries))
        archive.writestr("header.json", jsonl.encode(_header(run)))
        start = {name: value for name, value in _header(run).items() if name in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", jsonl.encode(start))
    return len(summaries)


def _header(run: RunDir) -> Json:
    config, records = run.config(), run.episodes()
    finished = config.get("state") == "finished"
    return {
        "version": SCHEMA,
        "status": "success" if finished else "cancelled",
        "eval": _eval(run, config),
        "plan": {"name": "plan", "steps": [{"solver": str(config.get("agent")), "params": {}}]},
        "results": _results(run),
        "stats": _stats(config, records),
    }


def _eval(run: RunDir, config: Json) -> Json:
    benchmark, model = part(config, "benchmark"), part(config, "model")
    ids = [str(row.get("id")) for row in run.tasks()]
    name = run.path.resolve().name
    return {
        "eval_id": _id(f"eval {name} {config.get('started')}"),
        "run_id": _id(f"run {name} {config.get('started')}"),
        "task_id": _id(f"task {benchmark.get('name')} {benchmark.get('version')}"),
        "created": str(config.get("started")),
        "task": str(benchmark.get("name")),
        "task_version": str(benchmark.get("version")),
        "task_args": {},
        "solver": str(config.get("agent")),
        "dataset": {"name": str(benchmark.get("name")), "samples": len(ids), "sample_ids": ids},
        "model": str(model.get("name")),
        "model_base_url": model.get("base_url"),
        "config": {"epochs": config.get("epochs") or 1},
        "packages": {"fieldmark": __version__},
        "metadata": {
            "run": name,
            **{part: config.get(part) for part in ("tools", "skills", "judge", "limits", "versions")},
        },
    }


def _results(run: RunDir) -> Json:
    """Strict accuracy as in the report: correct over done, epochs of a task averaged first."""
    grid = cells(run)
    strict, outcomes = strict_share(grid), Counter(cell.outcome for cell in grid)
    done = sum(outcomes[outcome] for outcome in DONE)
    metrics = (
        {} if strict.fraction is None else {"strict_accuracy": _metric("strict_accuracy", strict.fraction)}
    )
    score = {
        "name": SCORE,
        "scorer": str(run.config().get("judge")),
        "scored_samples": done,
        "unscored_samples": outcomes["unjudged"] + outcomes["sandbox_error"],
        "metrics": metrics,
    }
    ended = len(grid) - outcomes["not_run"]
    return {
        "total_samples": len(grid), "completed_samples": ended - outcomes["sandbox_error"],
        "logged_samples": ended, "scores": [score],
    }  # fmt: skip


def _metric(name: str, value: float) -> Json:
    return {"name": name, "value": value, "params": {}}


def _stats(config: Json, records: list[EpisodeRecord]) -> Json:
    totals: dict[str, Tokens] = {}
    for record in records:
        if record.tokens:
            totals[record.model] = added(totals.get(record.model, Tokens()), record.tokens)
    return {
        "started_at": str(config.get("started")),
        "completed_at": max((record.started for record in records), default=""),
        "model_usage": {model: usage(tokens) for model, tokens in totals.items()},
    }


def _id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:22]
