"""State: what an agent of others keeps itself for later episodes, its own files, as one text.

Only files of text are carried: what cannot be read cannot be searched for gold. A state is a JSON object of
path → text with sorted keys, so that its sha256 names its content. Paths begin with `home/` or `workspace/`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.errors import ToolError
from fieldmark.records import Row

State = Mapping[str, str]
"""Path → text."""
MOST_FILES = 500
MOST_BYTES = 2**20
"""Of a state as it is sent."""
LONGEST_PATH = 240
MOST_MARKS = 30


class StateRow(Row):
    """What an episode left, in the run's log: `id` and `epoch` name it, `state` is the sha256 of a blob.

    `wave` is the place of that episode in its run; `run` names the run that it was taken over from.
    """

    state: str
    files: int
    bytes: int
    wave: int = 0
    run: str | None = None


def read_states(path: Path) -> list[StateRow]:
    """The rows of a log, in order; lines that are none count as not there."""
    rows = []
    for row in jsonl.read(path).rows:
        try:
            rows.append(StateRow.model_validate(row))
        except ValidationError:
            continue
    return rows


def state_before(
    rows: Iterable[StateRow], wave: int, epoch: int, known: int | None = None
) -> StateRow | None:
    """What an episode begins with: of the first `known` lines of the log (None: all), the state that the
    latest earlier wave of its own epoch left, else the one taken over from another run.
    """
    mine = list(rows)[:known]
    earlier = [row for row in mine if not row.run and row.epoch == epoch and row.wave < wave]
    taken_over = [row for row in mine if row.run]
    return max(earlier, key=lambda row: row.wave) if earlier else next(iter(taken_over), None)


def packed(state: State) -> str:
    """A state as one text, the same for the same files."""
    return json.dumps(state, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def unpacked(text: str) -> dict[str, str]:
    """What `packed` made."""
    state: dict[str, str] = json.loads(text)
    return state


def name_of(state: State) -> str:
    """The sha256 of a state, as a blob of it is called."""
    return hashlib.sha256(packed(state).encode()).hexdigest()


def checked(files: Any, places: Sequence[str]) -> dict[str, str]:
    """What a sandbox sent, as a State. ToolError: it is none, too large, or outside the agent's `places`."""
    if not isinstance(files, dict) or len(files) > MOST_FILES:
        raise ToolError(f"a state has at most {MOST_FILES} files", "invalid_args")
    for path, text in files.items():
        if not isinstance(text, str) or not _is_text(path) or not _is_text(text):
            raise ToolError(
                "a state holds texts alone: UTF-8, without NUL and heaps of marks", "invalid_args"
            )
        if len(path) > LONGEST_PATH or not within(path, places) or _parents(path) & files.keys():
            raise ToolError(f"{path[:80]!r} is no place of this agent's memory", "invalid_args")
    if len(packed(files).encode()) > MOST_BYTES:
        raise ToolError(f"a state has at most {MOST_BYTES} bytes", "invalid_args")
    return dict(files)


def within(path: str, places: Sequence[str]) -> bool:
    """Whether a path is plain (no `..`, nothing empty), and one of `places` or in one."""
    plain = all(part not in ("", ".", "..") for part in path.split("/"))
    return plain and any(path == place or path.startswith(f"{place}/") for place in places)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text and (text.isascii() or not _heaped().search(text))


@functools.cache
def _heaped() -> re.Pattern[str]:
    """Over MOST_MARKS combining marks in a row, which no language writes: normalising takes their square.

    The limit is that of Unicode's stream-safe text (UAX 15).
    """
    signs = map(chr, range(0x300, sys.maxunicode + 1))
    marks = [sign for sign in signs if unicodedata.combining(unicodedata.normalize("NFKD", sign)[0])]
    return re.compile(f"[{''.join(marks)}]{{{MOST_MARKS + 1}}}")


def _parents(path: str) -> set[str]:
    return {str(parent) for parent in PurePosixPath(path).parents}


@dataclass
class EpisodeState:
    """What one episode begins with and may leave. `row`: whose state it begins with; None: nobody's.

    `places` are the paths that may be carried, `known` the lines that the run's log had.
    """

    read_kind: ClassVar = "memory_state"

    places: Sequence[str]
    files: State = field(default_factory=dict)
    known: int = 0
    writes: bool = True

    def at_lease(self) -> tuple[list[str], dict[str, Any]]:
        """No line for the prompt; the fields of the event that tells what it began with."""
        return [], {"at": "lease", **summary(self.files), "known": self.known}

    def keep(self, files: Any) -> tuple[str, dict[str, Any]]:
        """The state that an episode leaves, as one text, and the fields of its event. ToolError: refused."""
        if not self.writes:
            raise ToolError("the memory of this run is frozen: it is read, and not written", "denied")
        state = checked(files, self.places)
        return packed(state), {"at": "end", **summary(state)}


def summary(state: State) -> dict[str, Any]:
    """Its name and size."""
    text = packed(state).encode()
    return {"state": hashlib.sha256(text).hexdigest(), "files": len(state), "bytes": len(text)}
