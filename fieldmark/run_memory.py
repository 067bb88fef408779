"""RunMemory: the notes of a run, read before an episode and merged after its wave. It takes NumPy."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig
from fieldmark.errors import ToolError
from fieldmark.memory.episode import EpisodeMemory
from fieldmark.memory.notes import Note, known_to, read_notes
from fieldmark.memory.store import NoteStore
from fieldmark.memory.vectors import Floats, packed
from fieldmark.records import EpisodeRecord
from fieldmark.remembering import Due, add_notes, gold_search, waves_of
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.staging import StagedTask
from fieldmark.task import Task
from fieldmark.trace import MemoryWrite


class RunMemory:
    """The memory of a run whose episodes are played in the order of `grid`."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunDir,
        grid: Sequence[Due],
        tasks: Sequence[Task],
        backends: Backends,
    ) -> None:
        most = config.most_at_once
        self._waves = list(waves_of(grid, most)) if most else [grid]
        self._wave = {
            (staged.task.id, epoch): at for at, wave in enumerate(self._waves) for staged, epoch in wave
        }
        self._writes = config.memory == "inherit"
        self._folder = folder
        self._gold = gold_search(tasks)
        self._backends = backends
        self._store = NoteStore.open(_name(folder), folder.memory_store, config.memory_url)

    def close(self) -> None:
        self._store.close()

    def wave(self, due: Due) -> int:
        """Which wave an episode belongs to, from 0."""
        return self._wave[due[0].task.id, due[1]]

    async def open(self) -> None:
        """Make log and store what the committed episodes left: after a kill they may lack the last notes."""
        self._folder.memory_file.touch()
        done = {record.key: record for record in self._folder.episodes()}
        for wave in self._waves:
            if all((staged.task.id, epoch) in done for staged, epoch in wave):
                await self._merge(wave, done)
        self._store.sync(read_notes(self._folder.memory_file))

    async def before(self, staged: StagedTask, epoch: int) -> EpisodeMemory:
        """What this episode may read."""
        stored, wave = self._store.all(), self.wave((staged, epoch))
        readable = {note.note for note in known_to([each.note for each in stored], wave, epoch)}
        return EpisodeMemory(
            staged.task.id, epoch, staged.task.question,
            [each for each in stored if each.note.note in readable], len(stored),
            await self._look(staged), self._writes,
        )  # fmt: skip

    async def merge(self, wave: int) -> None:
        """Take in the notes of a wave whose episodes are all committed."""
        done = {record.key: record for record in self._folder.episodes()}
        await self._merge(self._waves[wave], done)
        self._store.sync(read_notes(self._folder.memory_file))

    async def _merge(self, wave: Sequence[Due], done: dict[tuple[str, int], EpisodeRecord]) -> None:
        if not self._writes:
            return
        for staged, epoch in wave:
            record = done[staged.task.id, epoch]
            if record.status == "answered" and (taken := self._taken(record)):
                look = await self._look(staged)
                kept = None if look is None else packed(look)
                place = self.wave((staged, epoch))
                notes = [note.model_copy(update={"wave": place, "look": kept}) for note in taken]
                add_notes(self._folder, notes, self._gold)

    def _taken(self, record: EpisodeRecord) -> list[Note]:
        return [
            Note(
                id=record.id, epoch=record.epoch, note=event.note, kind=event.about, text=event.text,
                cites=event.cites,
            )
            for event in self._folder.trace(record)
            if isinstance(event, MemoryWrite) and event.about
        ]  # fmt: skip

    async def _look(self, staged: StagedTask) -> Floats | None:
        """The vector of a task's picture; None when it cannot be made."""
        path = BlobStore(self._folder.blobs).path(staged.image.blob)
        try:
            return np.frombuffer(await self._backends.look(Clock(), str(path)), np.float32)
        except ToolError:
            return None


def _name(folder: RunDir) -> str:
    """The run's namespace, also in a store that other runs share."""
    config = folder.config()
    whole = f"{config['id']}\n{config['started']}".encode("utf-8", "replace")
    return f"{config['id']}-{hashlib.sha256(whole).hexdigest()[:8]}"
