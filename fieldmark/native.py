"""The memory of a run in form `native`: files that an agent of others keeps, from episode to episode.

As with notes the traces are the truth: an episode's trace names the blob that it left. When it is committed
and `answered`, its files are searched for gold; what is left is the state that the next one begins with.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any

from fieldmark import jsonl
from fieldmark.agents.base import Agent
from fieldmark.agents.registry import agent_names, get_agent
from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.exporting.proof import GoldSearch
from fieldmark.memory.history import wave_of
from fieldmark.memory.state import (
    EpisodeState,
    State,
    StateRow,
    packed,
    read_states,
    state_before,
    summary,
    unpacked,
    within,
)
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.staging import StagedTask
from fieldmark.trace import MemoryState

Due = tuple[StagedTask, int]
LAST = 1 << 30
"""Later than any wave."""


def places_of(config: RunConfig, agent: Agent) -> tuple[str, ...]:
    """What a run carries of its agent's files. UsageError: the agent keeps none, or other ones."""
    if config.memory_form != "native":
        return ()
    places = _places(agent)
    if not places:
        known = ", ".join(name for name in agent_names() if _places(get_agent(name)))
        raise UsageError(
            f"{agent.name} has no memory of its own: --memory-form native is for {known}, and for recipes "
            "with [memory]"
        )
    if config.frozen:
        _check_places(RunDir.open(config.frozen), places)
    return places


def _places(agent: Agent) -> tuple[str, ...]:
    from fieldmark.agents.external.agent import ExternalAgent  # only a run in form `native` asks

    return agent.memory if isinstance(agent, ExternalAgent) else ()


def _check_places(source: RunDir, places: Sequence[str]) -> None:
    other = [path for path in taken(source, None) if not within(path, places)]
    if other:
        agent = source.config().get("agent")
        raise UsageError(
            f"--memory frozen:{source.path}: it holds {other[0]}, which {agent} reads and this agent does not"
        )


def taken(source: RunDir, task: str | None) -> State:
    """The files that a run left in its first epoch, or those that the episode of `task` began with."""
    rows = read_states(source.memory_file)
    row = state_before(rows, wave_of(source, task, 0) if task else LAST, 0)
    try:
        return _load(source, row.state) if row else {}
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"the files that {source.path} carried cannot be read ({error})") from None


def take_over(config: RunConfig, source: RunDir, folder: RunDir, gold: GoldSearch) -> None:
    """Copy what a run left into a new one that begins with it, but for the files that hold its gold."""
    state = taken(source, config.memory_before)
    kept = {path: text for path, text in state.items() if not gold.in_text(f"{path}\n{text}")}
    row = _row(source.path.name, 0, 0, kept)
    _withhold(folder, row, summary(state)["state"], {path: state[path] for path in state.keys() - kept}, gold)
    _store(folder, row.model_copy(update={"run": source.path.name}), kept)


def describe(folder: RunDir) -> dict[str, Any]:
    """Of a frozen memory, for run.json."""
    row = state_before(read_states(folder.memory_file), LAST, 0)
    return {"files": row.files, "sha256": row.state} if row else {}


class NativeMemory:
    """The files of a run whose episodes are played in the order of `grid`, one after the other.

    `places` are the paths that are carried. It has the methods of RunMemory.
    """

    def __init__(
        self, config: RunConfig, folder: RunDir, grid: Sequence[Due], gold: GoldSearch, places: Sequence[str]
    ) -> None:
        self._writes = config.memory == "inherit"
        self._due = list(grid)
        self._wave = {(staged.task.id, epoch): at for at, (staged, epoch) in enumerate(grid)}
        self._folder = folder
        self._gold = gold
        self._places = places

    def close(self) -> None:
        """It holds nothing open."""

    def wave(self, due: Due) -> int:
        """The place of an episode; all episodes that read a frozen memory have one."""
        return self._wave[due[0].task.id, due[1]] if self._writes else 0

    async def open(self) -> None:
        """Make the log what the committed episodes left: after a kill it may lack the last."""
        self._folder.memory_file.touch()
        if self._writes:
            done = {record.key: record for record in self._folder.episodes()}
            for staged, epoch in self._due:
                if record := done.get((staged.task.id, epoch)):
                    await asyncio.to_thread(self._merge, record)

    async def before(self, staged: StagedTask, epoch: int) -> EpisodeState:
        """What this episode begins with."""
        rows = read_states(self._folder.memory_file)
        row = state_before(rows, self.wave((staged, epoch)), epoch)
        files = _load(self._folder, row.state) if row else {}
        return EpisodeState(self._places, files, len(rows), self._writes)

    async def merge(self, wave: int) -> None:
        """Take in what an episode left that is committed."""
        if self._writes:
            staged, epoch = self._due[wave]
            done = {record.key: record for record in self._folder.episodes()}
            await asyncio.to_thread(self._merge, done[staged.task.id, epoch])

    def _merge(self, record: EpisodeRecord) -> None:
        events = [event for event in self._folder.trace(record) if isinstance(event, MemoryState)]
        left = [event for event in events if event.at == "end"]
        there = {row.key for row in read_states(self._folder.memory_file)}
        if record.status != "answered" or not left or record.key in there:
            return
        began = next((event for event in events if event.at == "lease" and event.files), None)
        base = _load(self._folder, began.state) if began else {}
        state = _load(self._folder, left[-1].state)
        bad = {path: text for path, text in state.items() if self._gold.in_text(f"{path}\n{text}")}
        kept = {path: text for path, text in state.items() if path not in bad}
        kept |= {path: base[path] for path in bad.keys() & base.keys()}
        row = _row(record.id, record.epoch, self._wave[record.key], kept)
        _withhold(self._folder, row, left[-1].state, bad, self._gold)
        if kept != base:
            _store(self._folder, row, kept)


def _row(task_id: str, epoch: int, wave: int, state: State) -> StateRow:
    return StateRow(id=task_id, epoch=epoch, wave=wave, **summary(state))


def _store(folder: RunDir, row: StateRow, state: State) -> None:
    folder.blob_store().put_text(packed(state))
    jsonl.append(folder.memory_file, row.model_dump(mode="json", exclude_none=True))


def _withhold(folder: RunDir, row: StateRow, left: str, bad: State, gold: GoldSearch) -> None:
    """Note in the private part which files hold gold; their text is in the blob `left`."""
    there = {
        (each.get("id"), each.get("epoch"), each.get("file"))
        for each in jsonl.read(folder.memory_withheld_file).rows
    }
    for path, text in sorted(bad.items()):
        if (row.id, row.epoch, path) not in there:
            holds = sorted(gold.in_text(f"{path}\n{text}"))
            line = {"id": row.id, "epoch": row.epoch, "file": path, "state": left, "holds": holds}
            jsonl.append(folder.memory_withheld_file, line)


def _load(folder: RunDir, name: str) -> State:
    """KeyError: the blob is gone. OSError: it is not what its name says."""
    text = BlobStore(folder.blobs).get_text(name)
    if hashlib.sha256(text.encode()).hexdigest() != name:
        raise OSError(f"the blob {name} was changed")
    return unpacked(text)
