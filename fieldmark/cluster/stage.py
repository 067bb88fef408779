"""A run on a cluster: its episodes are sent out one by one, and taken into the run folder as they end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fieldmark.blobs import BlobStore
from fieldmark.cluster.brief import pack
from fieldmark.cluster.cluster import Cluster
from fieldmark.cluster.travelling import Errand
from fieldmark.preflight import Plan
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.session import HARD_STOP, Outcome
from fieldmark.sandbox.pool import undisturbed
from fieldmark.staging import StagedTask
from fieldmark.task import Gold, Labels

GRACE_SECONDS = 600.0
"""What an attempt may take beside its own hard stop: a container, an engine that is away, the way back."""


@dataclass(frozen=True)
class ClusterStage:
    """A Stage (`fieldmark/episode.py`) whose episodes play on nodes. It alone writes into the run folder."""

    run: RunDir
    plan: Plan
    blobs: BlobStore
    cluster: Cluster
    memory: None = None

    async def play(
        self, staged: StagedTask, *, epoch: int = 0, attempt: int = 0, earlier: list[str] | None = None
    ) -> tuple[EpisodeRecord, Outcome]:
        """One attempt, somewhere. SandboxFault: no node is left. OSError, KeyError: the run folder."""
        played = await self.cluster.play(self._errand(staged, epoch, attempt, earlier or []))
        for name, data in played.blobs.items():
            self.blobs.adopt(name, data)
        self.run.pending_trace(staged.task.id, epoch, attempt).write_bytes(played.trace)
        return played.record, played.outcome

    def aside(self, folder: RunDir, plan: Plan) -> ClusterStage:
        """The same nodes, for episodes that another folder keeps."""
        return replace(self, run=folder, plan=plan, blobs=BlobStore(folder.blobs))

    def _errand(self, staged: StagedTask, epoch: int, attempt: int, earlier: list[str]) -> Errand:
        told = {"labels": Labels(language=staged.task.labels.language), "gold": Gold(answer="")}
        task = staged.task.model_copy(update={**told, "image": Path("picture"), "gallery": []})
        files = {self.blobs.path(picture.blob) for picture in (staged.image, staged.view)}
        return Errand(
            replace(staged, task=task, gallery=[]), {path.name: path.read_bytes() for path in files},
            self.plan.tools, [skill.name for skill in self.plan.skills], epoch, attempt, earlier,
        )  # fmt: skip


@asynccontextmanager
async def cluster_stage(run: RunDir, plan: Plan, expected: int) -> AsyncIterator[ClusterStage]:
    """The nodes, made ready for `expected` episodes, cleaned up at the end."""
    cluster = plan.cluster
    assert cluster
    try:
        patience = HARD_STOP * plan.config.limits.seconds + GRACE_SECONDS
        await cluster.open(pack(plan, run.path.name, expected), plan.parallel, patience)
        yield ClusterStage(run, plan, run.blob_store(), cluster)
    finally:
        await undisturbed(cluster.close())
