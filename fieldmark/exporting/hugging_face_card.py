"""The card of a dataset folder: README.md with the front matter that Hugging Face reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fieldmark import __version__
from fieldmark.rundir import RunDir

_MEANING = {
    "id": "the task of the benchmark",
    "epoch": "which look at the task, from 0",
    "attempt": "how often it was begun before, by no fault of the agent's",
    "status": "how it ended: answered, empty, timeout, budget, agent_error; sandbox_error is ours",
    "agent": "who decided",
    "model": "its model",
    "answer": "the agent's own words; null: none",
    "confidence": "as the agent put it, 0–1",
    "verdict": "is the answer right; null: not judged",
    "score": "of the verdict, 0–1",
    "finer": "more specific than the reference, and compatible",
    "judge": "who judged",
    "seconds": "wall time",
    "charged_seconds": "without what the gateway waited",
    "model_calls": "calls of the model",
    "input_tokens": "as the server reports them; null: it did not",
    "output_tokens": "the same",
    "cost_usd": "null: a price or a usage is unknown",
    "image_sha256": "of the picture that the agent was given",
    "image": "that picture",
    "question": "as it was asked",
    "split": "of the benchmark",
    "top": "category",
    "mid": "category within",
    "language": "of the question",
    "gold": "the reference answer",
    "aliases": "other names of it",
}


def card(run: RunDir, columns: Mapping[str, str], *, private: bool) -> str:
    """Markdown, with `columns` and their dtypes. It says nothing of single tasks."""
    config = run.config()
    benchmark = config.get("benchmark") or {}
    title = run.path.resolve().name
    files = [{"split": "test", "path": "data/test.parquet"}]
    front = {
        "pretty_name": f"fieldmark run {title}",
        "tags": ["fieldmark", "agent", "evaluation"],
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": [{"name": name, **_kind(dtype)} for name, dtype in columns.items()]},
    }
    matter = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())  # JSON is YAML, too
    rows = "\n".join(f"| `{column}` | {_MEANING[column]} |" for column in columns)
    gold = (
        "\n**It holds the reference answers of the benchmark: do not publish it.**\n" if private else
        "\nNo reference answer, alias or evidence link of the benchmark is in it: each was searched for.\n"
    )  # fmt: skip
    about = (
        f"One episode a row: agent `{_plain(config.get('agent'))}`, model "
        f"`{_plain((config.get('model') or {}).get('name'))}`, benchmark `{_plain(benchmark.get('name'))}` "
        f"version `{_plain(benchmark.get('version'))}`, judge `{_plain(config.get('judge'))}`, begun "
        f"{_plain(config.get('started'))}."
    )
    return (
        f"---\n{matter}\n---\n# {_plain(title)}\n\n{about}\n{gold}\n"
        f"| column | what |\n|---|---|\n{rows}\n\nMade by fieldmark {__version__}.\n"
    )


def _kind(dtype: str) -> dict[str, str]:
    return {"list": "string"} if dtype == "strings" else {"dtype": dtype}


def _plain(value: Any) -> str:
    """Of one line, without what Markdown would read."""
    return " ".join(str(value).replace("`", "'").split())
