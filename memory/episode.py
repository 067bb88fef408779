"""EpisodeMemory: what one episode may do with the memory of its run, on a snapshot taken at its lease."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from fieldmark.errors import ToolError
from fieldmark.memory.notes import Note, digest, note_name
from fieldmark.memory.retrieval import Hit, Stored, best
from fieldmark.memory.vectors import Floats
from fieldmark.trace import NoteKind

AT_LEASE = 5
"""Notes that the prompt of every agent holds."""
MOST_HITS = 10
MOST_NOTES = 5
"""Notes that one episode may take."""
MOST_SIGNS = 400
MOST_CITES = 10


@dataclass
class EpisodeMemory:
    """`stored` are the notes that this episode may read, out of the first `known` of the run's log; `look` is
    the vector of its picture. `task_id` and `epoch` name its own notes, and are never shown to the agent.
    """

    read_kind: ClassVar = "memory_read"

    task_id: str
    epoch: int
    question: str
    stored: Sequence[Stored] = ()
    known: int = 0
    look: Floats | None = None
    writes: bool = True
    taken: list[str] = field(default_factory=list)

    def at_lease(self) -> tuple[list[str], dict[str, Any]]:
        """The lines for the prompt, and the fields of the `memory_read` event that tells of them."""
        hits = best(self.stored, self.question, self.look, AT_LEASE)
        memory = {"known": self.known, "notes": len(self.stored), "sha256": digest(self._notes())}
        return [f"({hit.note.kind}) {hit.note.text}" for hit in hits], {
            **_read("lease", self.question, hits),
            "memory": memory,
        }

    def recall(self, query: str, limit: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the agent is told, and the fields of the event. A note that shares no word with the query is
        no hit.
        """
        hits = [hit for hit in best(self.stored, query, self.look, len(self.stored)) if hit.text > 0]
        hits = hits[: min(limit, MOST_HITS)]
        rows = [
            {"rank": rank, "kind": hit.note.kind, "text": hit.note.text, "score": hit.score}
            for rank, hit in enumerate(hits, 1)
        ]
        return {"found": bool(hits), "hits": rows}, _read("recall", query, hits)

    def remember(
        self, text: str, kind: str, cites: Collection[int], results: Mapping[int, str]
    ) -> dict[str, Any]:
        """Take a note; the fields of its `memory_write` event. `results`: the `seq` → tool of each result of
        this episode that the gateway saw. ToolError says why it is refused.
        """
        if not self.writes:
            raise ToolError("the memory of this run is frozen: it is read, and not written", "denied")
        said = " ".join(text.split())
        self._check(said, kind, cites, results)
        self.taken.append(said)
        name = note_name(self.task_id, self.epoch, len(self.taken))
        return {"note": name, "about": kind, "text": said, "cites": sorted(set(cites))}

    @property
    def left(self) -> int:
        """How many notes may still be taken."""
        return MOST_NOTES - len(self.taken)

    def _check(self, said: str, kind: str, cites: Collection[int], results: Mapping[int, str]) -> None:
        if kind not in get_args(NoteKind):
            raise ToolError(f"kind: one of {', '.join(get_args(NoteKind))}", "invalid_args")
        if not said or len(said) > MOST_SIGNS:
            raise ToolError(f"text: a note has 1 to {MOST_SIGNS} characters, not {len(said)}", "invalid_args")
        if said in self.taken:
            raise ToolError("this note is taken already", "invalid_args")
        if not self.left:
            raise ToolError(f"an episode takes at most {MOST_NOTES} notes, and these are taken", "denied")
        if not 0 < len(set(cites)) <= MOST_CITES:
            raise ToolError(f"cites: name 1 to {MOST_CITES} results. {_citable(results)}", "invalid_args")
        unknown = sorted(set(cites) - results.keys())
        if unknown:
            message = f"cites: {unknown[0]} is no result of a tool in this episode. {_citable(results)}"
            raise ToolError(message, "invalid_args")

    def _notes(self) -> list[Note]:
        return [each.note for each in self.stored]


def _read(at: str, query: str, hits: Sequence[Hit]) -> dict[str, Any]:
    rows = [
        {
            "note": hit.note.note, "score": hit.score, "text": hit.text, "look": hit.look,
            **({"same": list(hit.same)} if hit.same else {}),
        }
        for hit in hits
    ]  # fmt: skip
    return {"at": at, "query": query, "hits": rows}


def _citable(results: Mapping[int, str]) -> str:
    """The results that may be cited, the latest of very many."""
    if not results:
        return "There is none yet that could be cited: use a tool first"
    shown = list(results.items())[-20:]
    return "Those that can be cited: " + ", ".join(f"{seq} ({tool})" for seq, tool in shown)
