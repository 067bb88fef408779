"""Games as transitions for offline reinforcement learning, after section 8 of the paper: one row a step.

Reward terms stand apart and unscaled, for whoever trains to weigh: `skip` and `premature` (-1 or 0),
`progress` (bits by which the feasible set shrank), `gain` (bits that were to be expected), and at the end
`correct` and `verified` (1 or 0), the latter being the paper's terminal reward. What the set was and whether
a guess was right is gold: an export is for training, not for an agent that plays these episodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log2
from pathlib import Path
from typing import Any

from fieldmark.evals.amigo.rows import CORRECT, GameRecord, OverRow, TurnRow, UploadRow
from fieldmark.jsonl import encode

Row = dict[str, Any]


def export(path: Path, records: Iterable[GameRecord]) -> int:
    """Write the steps of all games that are over as JSON lines; how many there are."""
    lines = [encode(step) for record in records if record.over for step in steps(record)]
    path.write_bytes(b"".join(lines))
    return len(lines)


def steps(record: GameRecord) -> Iterator[Row]:
    """`state` is before the action; `observation` is the oracle's word, "" where there was none."""
    dialogue: list[Row] = []
    for upload in record.uploads:
        yield _step(record, dialogue, None, _action(upload), "", {"premature": -float(upload.premature)})
    for turn in record.turns:
        rewards = {"skip": -float(not turn.valid), "progress": _progress(turn), "gain": turn.gain or 0.0}
        yield _step(record, dialogue, turn.before, _action(turn), turn.reply, rewards)
        constraint = turn.constraint.model_dump() if turn.constraint else None
        dialogue.append({"question": turn.question, "answer": turn.reply, "constraint": constraint})
    if record.over:
        over = record.over
        ends = {
            "correct": float(over.outcome in CORRECT),
            "verified": float(over.outcome == "verified"),
        }
        yield _step(record, dialogue, over.feasible, _action(over), "", ends) | {"done": True}


def _step(
    record: GameRecord,
    dialogue: list[Row],
    feasible: list[int] | None,
    action: Row,
    observation: str,
    rewards: dict[str, float],
) -> Row:
    state = {
        "gallery": record.size,
        "phase": "uploading" if feasible is None else "asking",
        "dialogue": [*dialogue],
        "feasible": [*range(1, record.size + 1)] if feasible is None else feasible,
    }
    return {
        "episode": record.episode, "tau": record.tau, "state": state, "action": action,
        "observation": observation, "reward": rewards, "done": False,
    }  # fmt: skip


def _action(row: UploadRow | TurnRow | OverRow) -> Row:
    match row:
        case UploadRow():
            return {"kind": row.heard, "text": row.text}
        case TurnRow():
            return {"kind": "question" if row.question else "other", "text": row.text}
        case OverRow():
            kind = "guess" if row.guess is not None else "none"
            return {"kind": kind, "text": row.text, "guess": row.guess}


def _progress(turn: TurnRow) -> float:
    """0 where no image is left, before or after: a contradiction is no progress."""
    return log2(len(turn.before) / len(turn.after)) if turn.before and turn.after else 0.0
