"""A run judged without being run again: what is unjudged, or all of it by another judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import BaseModel

from fieldmark import trust
from fieldmark.errors import UsageError
from fieldmark.evals.judges import Judge, get_judge
from fieldmark.judging import recording
from fieldmark.judging.checking import check
from fieldmark.judging.episodes import EpisodeJudge
from fieldmark.model_config import JudgeConfig
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.task import Gold

AT_ONCE = 8
"""Answers that are judged at once."""
Say = Callable[[str], None]


class Judged(BaseModel):
    """What a sitting of judging did. `kept` verdicts of this judge were there before; `changed`: of the
    episodes that the judge before had judged too, those that have another label now.
    """

    judge: str
    before: str | None
    kept: int
    judged: int
    unjudged: int
    changed: int


@dataclass(frozen=True)
class _Item:
    record: EpisodeRecord
    question: str
    gold: Gold


def recorded_judge(folder: RunDir, *, trusted: bool = False) -> JudgeConfig:
    """The judge that a run has, with its paths of this machine.

    UsageError for a server or a file that only the folder names, unless it is `trusted`.
    """
    config = folder.config().get("config")
    recorded = config.get("judge") if isinstance(config, dict) else None
    settings = JudgeConfig.model_validate(folder.paths().get("judge") or recorded or "exact")
    trust.check(folder.path, trust.named_by_asked(settings), trust=trusted)
    return settings


def judge_again(folder: RunDir, settings: JudgeConfig, say: Say, *, anew: bool = False) -> Judged:
    """Judge what this judge has not judged yet, or, `anew`, everything; the run's judge is this one then.

    Verdicts of other judges stay in the folder. UsageError when gold is not there, or the judge cannot be.
    """
    trust.remember(trust.named_by_asked(settings))
    judge = get_judge(settings)
    items = list(_items(folder))
    check(judge)
    folder.lock()
    try:
        return _judge_locked(folder, settings, judge, items, say, anew=anew)
    finally:
        folder.unlock()


def _judge_locked(
    folder: RunDir, settings: JudgeConfig, judge: Judge, items: list[_Item], say: Say, *, anew: bool
) -> Judged:
    before, old = folder.config().get("judge"), folder.verdicts()
    folder.write_config(recording.switch(folder.config(), settings, judge))
    folder.write_paths(_switched(folder, settings))
    mine = folder.verdicts()
    left = [item for item in items if anew or item.record.key not in mine]
    found = _judge_all(folder, judge, left, say)
    return Judged(
        judge=judge.name,
        before=before if isinstance(before, str) else None,
        kept=len(items) - len(left),
        judged=len(found),
        unjudged=len(left) - len(found),
        changed=sum(old[v.key].label != v.label for v in found if v.key in old),
    )


def _judge_all(folder: RunDir, judge: Judge, items: list[_Item], say: Say) -> list[Verdict]:
    """The verdicts on them, committed as they come."""
    each = EpisodeJudge(judge, folder)

    def one(item: _Item) -> Verdict | None:
        try:
            return each.judge(item.question, item.gold, item.record)
        except Exception as error:  # a judge may be the user's own code: the others are judged all the same
            if line := each.complaint(item.record, error):
                say(line)
            return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [verdict for verdict in pool.map(one, items) if verdict]


def _items(folder: RunDir) -> Iterator[_Item]:
    """The episodes that can be judged. One that broke through no fault of the agent is not."""
    questions = {row.get("id"): row.get("question") for row in folder.tasks()}
    gold = folder.gold()
    for record in folder.episodes():
        if record.status == "sandbox_error":
            continue
        if record.id not in gold:
            raise UsageError(f"no gold for {record.id!r} in {folder.gold_file}: judge where the run was made")
        yield _Item(record, str(questions.get(record.id) or ""), gold[record.id])


def _switched(folder: RunDir, settings: JudgeConfig) -> dict[str, object]:
    kept = {key: value for key, value in folder.paths().items() if key != "judge"}
    return kept | recording.paths(settings)
