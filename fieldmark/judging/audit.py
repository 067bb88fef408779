"""A person looks at a sample of the judged answers, without seeing the verdicts, one key for each.

What the person says is kept in the private part as it is said, so that the sample goes on where it was left.
It belongs to the answer, not to the verdict: when another judge judges the run, it holds for that one too.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.audit import AuditFacts, audit
from fieldmark.evals.metrics.doubts import doubts
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.keyboard import QUIT, columns, one_line
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.task import Gold

Word = Literal["right", "wrong", "unsure"]
KEYS: dict[str, Word] = {"y": "right", "n": "wrong", "?": "unsure"}
Key = tuple[str, int]


def run_audit(
    folder: RunDir, sample: int, seed: int, key: Callable[[], str], say: Callable[[str], None]
) -> AuditFacts:
    """Ask about what is left of the sample; the figures of all of it that was answered.

    UsageError when nothing is judged, or gold is not there.
    """
    grid = cells(folder)
    drawn = draw(grid, sample, seed)
    if not drawn:
        raise UsageError(f"no answer of {folder.path} is judged: `fieldmark judge {folder.path}` first")
    gold = folder.gold()
    if not gold:
        raise UsageError(f"no gold in {folder.gold_file}: audit where the run was made")
    said = _said(folder)
    left = [cell for cell in drawn if _key(cell) not in said]
    say(f"{len(drawn)} of the judged answers; {len(left)} left. y: correct, n: not, ?: cannot tell, q: later")
    questions = {row.get("id"): row for row in folder.tasks()}
    for number, cell in enumerate(left, len(drawn) - len(left) + 1):
        say(f"\n{number}/{len(drawn)}")
        say(_shown(folder, cell, questions.get(cell.id, {}), gold.get(cell.id)))
        word = _word(key)
        if word is None:
            break
        said[_key(cell)] = word
        row = {"id": cell.id, "epoch": cell.epoch, "answer": _answer(cell), "word": word}
        jsonl.append(folder.audit_file, row)
    mine = {_key(cell): said[_key(cell)] for cell in drawn if _key(cell) in said}
    words = {word: [where for where, each in mine.items() if each == word] for word in KEYS.values()}
    facts = audit(grid, words["right"], words["wrong"], len(words["unsure"]))
    return facts.model_copy(update={"doubts": doubts(grid, folder.class_marks(), said)})


def draw(grid: list[Cell], sample: int, seed: int) -> list[Cell]:
    """`sample` judged answers, whatever their verdict; a larger sample holds a smaller one."""
    judged = sorted((cell for cell in grid if cell.verdict and _answer(cell)), key=_key)
    random.Random(seed).shuffle(judged)
    return judged[:sample]


def lines(facts: AuditFacts) -> list[str]:
    """The figures, each with its n."""
    around, corrected = facts.precision_interval, facts.corrected_interval
    return [
        f"audited: {counted(facts.sampled, 'answer')}, {facts.unsure} of them unsure",
        f"precision of `correct`: {percent(facts.precision.fraction)} %"
        f" ({count(facts.precision)}, 95 % CI {interval(around)})",
        f"found correct among the other verdicts: {percent(facts.missed.fraction)} % ({count(facts.missed)})",
        f"accuracy by the judge: {percent(facts.judged.fraction)} % ({count(facts.judged)} done);"
        f" corrected: {percent(facts.corrected)} % (95 % CI {interval(corrected)})",
        *_doubted(facts),
    ]


def _doubted(facts: AuditFacts) -> Iterator[str]:
    """A line for each doubt; what a person wrote is told without what would move the terminal."""
    if facts.doubts:
        yield f"in doubt by persons, in no figure above: {counted(len(facts.doubts), 'verdict')}"
    for each in facts.doubts:
        epoch = f" epoch {each.epoch}" if each.epoch else ""
        audited = f"the audit says {each.audited}" if each.audited else "the audit did not ask"
        note = f": {one_line(each.note)}" if each.note else ""
        yield f"  {one_line(each.id)}{epoch} is {each.verdict}; {audited}; {each.annotator} doubts it{note}"


def _word(key: Callable[[], str]) -> Word | None:
    """The person's word; any other key is waited out."""
    while (pressed := key().lower()) not in KEYS:
        if pressed in QUIT:
            return None
    return KEYS[pressed]


def _said(folder: RunDir) -> dict[Key, str]:
    """Earlier words, of answers that are still the same."""
    now = {record.key: record.answer for record in folder.episodes()}
    rows = jsonl.read(folder.audit_file).rows
    found = {(row["id"], row["epoch"]): row for row in rows}
    return {where: row["word"] for where, row in found.items() if now.get(where) == row["answer"]}


def _shown(folder: RunDir, cell: Cell, row: dict[str, Any], gold: Gold | None) -> str:
    return columns({**shown(folder, row, gold), "answer": _answer(cell)})


def shown(folder: RunDir, row: dict[str, Any], gold: Gold | None) -> dict[str, object]:
    """What a person is shown of a task: `row` is its public one."""
    blob = part(row, "image").get("blob")
    names = " | ".join([gold.answer, *gold.aliases]) if gold else "?"
    told: dict[str, object] = {"question": row.get("question")}
    with contextlib.suppress(KeyError):  # a published run has no pictures
        told |= {"picture": BlobStore(folder.blobs).path(blob)} if blob else {}
    return {**told, "reference": names}


def _answer(cell: Cell) -> str:
    record = cell.record
    return (record.answer or "") if record and record.status == "answered" else ""


def _key(cell: Cell) -> Key:
    return (cell.id, cell.epoch)
