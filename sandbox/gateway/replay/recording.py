"""A recorded run as the source of replies: what each episode asked its models, and what it was told."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fieldmark.blobs import BlobStore
from fieldmark.errors import UsageError
from fieldmark.rundir import RunDir
from fieldmark.trace import ModelRequest, ModelResponse, Purpose, Role


@dataclass(frozen=True)
class Exchange:
    """A recorded request and what came back; None when nothing did."""

    request: ModelRequest
    response: ModelResponse | None


class Recording:
    """A run folder that was written earlier. `described` is its run.json, `sha256` that of its episodes."""

    def __init__(self, run: RunDir) -> None:
        self.described = run.config()
        self.name = str(self.described.get("id") or run.path.name)
        self.blobs = BlobStore(run.blobs)
        self.sha256 = hashlib.sha256(run.episodes_file.read_bytes()).hexdigest()
        self._run = run
        self._records = {record.key: record for record in run.episodes()}

    @classmethod
    def open(cls, path: Path) -> Recording:
        """UsageError when there is no run, or none of its episodes is finished."""
        run = RunDir.open(path)
        if not run.episodes():
            raise UsageError(f"{path} has no finished episode to replay: name another run")
        return cls(run)

    def has(self, task: str, epoch: int) -> bool:
        return (task, epoch) in self._records

    @property
    def refused(self) -> set[str]:
        """Tasks whose picture could not be used, so that they have no episode."""
        return {str(row.get("id")) for row in self.described.get("refused") or []}

    def model(self, role: Role) -> dict[str, Any]:
        """What run.json says of the run's model, or of its eyes; {} when it had none."""
        found = self.described.get("eyes" if role == "eyes" else "model")
        return found if isinstance(found, dict) else {}

    def exchanges(self, task: str, epoch: int, role: Role) -> dict[Purpose, list[Exchange]]:
        """All model calls of an episode in the order of its requests; empty when it cannot be read."""
        record = self._records.get((task, epoch))
        try:
            events = list(self._run.trace(record)) if record else []
        except (ValidationError, OSError):
            events = []
        responses = {event.call: event for event in events if isinstance(event, ModelResponse)}
        made: defaultdict[Purpose, list[Exchange]] = defaultdict(list)
        for event in events:
            if isinstance(event, ModelRequest) and event.role == role:
                made[event.purpose].append(Exchange(event, responses.get(event.call)))
        return made
