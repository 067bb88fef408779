"""The questions of a benchmark typed by a model into a file of facets, which a further call goes on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.facets import Facets, as_text, origin, read_facets
from fieldmark.evals.judges.base import JudgingOver, ServerDown, Unjudged
from fieldmark.evals.typing.typer import Typer
from fieldmark.task import Task
from fieldmark.whole_file import write_whole

AT_ONCE = 8
EVERY = 25
"""Questions after which the file is written anew: a kill loses at most these."""
Say = Callable[[str], None]


def type_questions(tasks: Sequence[Task], typer: Typer, out: Path, say: Say, *, anew: bool = False) -> Facets:
    """Type what the file has not yet, or all `anew`; what the file holds then.

    UsageError: the file is another model's or prompt's. A question without a word on it is left out and told.
    """
    found = {} if anew or not out.exists() else _begun(out, typer)
    order = [task.id for task in tasks]
    left = [task for task in tasks if task.id not in found]
    over: list[str] = []

    def one(task: Task) -> tuple[str, dict[str, str] | None]:
        if over:
            return task.id, None
        try:
            return task.id, typer(task)
        except Unjudged as error:
            say(f"{task.id} is not typed: {error}"[:300])
            if isinstance(error, ServerDown | JudgingOver):
                over.append(task.id)
            return task.id, None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (task_id, types) in enumerate(pool.map(one, left), 1):
            if types:
                found[task_id] = types
            if number % EVERY == 0 or number == len(left):
                _write(out, as_text(found, _remark(typer), order))
    return found


def _begun(out: Path, typer: Typer) -> Facets:
    if origin(out) != _remark(typer):
        raise UsageError(
            f"{out} is not by this model and prompt ({origin(out) or 'it does not say by which'}):"
            " name another --out, or give --anew"
        )
    text = out.read_text(encoding="utf-8")
    return read_facets(out) if len(text.splitlines()) > 2 else {}


def _remark(typer: Typer) -> str:
    return f"typed by {typer.name}, prompt sha256 {typer.described['prompt_sha256']}"


def _write(out: Path, text: str) -> None:
    try:
        write_whole(out, text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}; name another --out") from None
