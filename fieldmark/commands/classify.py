"""`fieldmark classify`: why each answer that is not correct was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fieldmark.counting import counted

if TYPE_CHECKING:
    from fieldmark.chaining import Chained
    from fieldmark.classifying import Classified
    from fieldmark.evals.failures.asked import AskedClassifier
    from fieldmark.model_config import ClassifierConfig
    from fieldmark.rundir import RunDir

Asked = TypeVar("Asked", bound="AskedClassifier")
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


def classifier_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which model classifies, and by what."""
    for option in reversed(
        [
            click.option("--model", "name", help="The model that is asked."),
            click.option("--base-url", help="Its OpenAI-compatible server.  [default: $OPENAI_BASE_URL]"),
            click.option("--key-env", help="The variable that holds its key.  [default: OPENAI_API_KEY]"),
            click.option("--temperature", help="0 to 2, or none: not sent.  [default: 0]"),
            click.option("--seed", help="Sent to it, or none: not sent.  [default: 0]"),
            click.option("--prompts", type=_FOLDER, help="A folder with the prompt, of your own."),
        ]
    ):
        function = option(function)
    return function


@click.command("classify")
@click.argument("runs", metavar="RUN|STUDY...", nargs=-1, required=True, type=click.Path(path_type=Path))
@classifier_options
@click.option("--scheme", type=click.Choice(["fieldmark", "pix2fact"]), default="fieldmark",
              show_default=True, help="fieldmark: classes; pix2fact: which link broke first.")  # fmt: skip
@click.option("--no-llm", is_flag=True, help="Facts alone; says what they left open.")
@click.option(
    "--hierarchy", type=click.Path(path_type=Path), metavar="TSV",
    help="Names and their parents: columns name, parent, rank, aliases (docs/taxonomy.md).",
)  # fmt: skip
@click.option("--anew", is_flag=True, help="Ask the model again, also of what it has classified already.")
@click.option("--trust", is_flag=True, help="Use the server and key that its folder names.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def command(
    runs: tuple[Path, ...], scheme: str, no_llm: bool, hierarchy: Path | None, anew: bool, trust: bool,
    as_json: bool, **flags: Any,
) -> int:  # fmt: skip
    """Classify every answer of each RUN that is not correct, and write failures.jsonl.

    Facts of the trace decide first, a model what they leave open: --model, else the one that the run has.
    Calling it again changes nothing, unless a verdict changed meanwhile, and asks the model only of what it
    has not classified. Ends with 1 while the model owes a word.

    \b
    fieldmark classify runs/a --no-llm
    fieldmark classify runs/a runs/b --no-llm --hierarchy birds.tsv
    fieldmark classify runs/my-study --no-llm     # all its runs
    fieldmark classify runs/a --model qwen3-32b --base-url http://localhost:8000/v1
    fieldmark classify runs/a --scheme pix2fact --no-llm    # chain_breaks.jsonl beside failures.jsonl
    """
    from fieldmark.errors import UsageError
    from fieldmark.study.folder import runs_at

    given = {key: value for key, value in flags.items() if value is not None}
    if no_llm and given:
        raise UsageError("--no-llm asks no model: leave the options of the model out")
    if hierarchy and scheme == "pix2fact":
        raise UsageError("--hierarchy is for the classes: leave it out with --scheme pix2fact")
    owed = 0
    for folder in [folder for run in runs for folder in runs_at(run)]:
        one = _chain if scheme == "pix2fact" else _classes
        done, unanswered = one(folder, None if no_llm else given, hierarchy, anew, trust)
        click.echo(json.dumps(done.model_dump(), ensure_ascii=False) if as_json else _told(done))
        owed += unanswered
    return 1 if owed else 0


def _classes(
    folder: RunDir, given: dict[str, Any] | None, hierarchy: Path | None, anew: bool, trust: bool
) -> tuple[Classified, int]:
    """What was done, and the cases that the model owes a word on. `given` None: no model is asked."""
    from fieldmark.classifying import classify_run
    from fieldmark.evals.failures.llm import make

    model = _model(folder, given, make, trust)
    done = classify_run(folder, hierarchy=hierarchy, second_stage=model, anew=anew, say=_say)
    return done, model.unanswered if model else 0


def _chain(
    folder: RunDir, given: dict[str, Any] | None, hierarchy: Path | None, anew: bool, trust: bool
) -> tuple[Chained, int]:
    """The same by the scheme of Pix2Fact, which has no hierarchy."""
    from fieldmark.chaining import chain_run
    from fieldmark.evals.failures.chain.llm import make

    model = _model(folder, given, make, trust)
    done = chain_run(folder, model=model, anew=anew, say=_say)
    return done, model.unanswered if model else 0


def _model(
    folder: RunDir, given: dict[str, Any] | None, make: Callable[[ClassifierConfig], Asked], trust: bool
) -> Asked | None:
    """The model, its server there, and written down as the run's."""
    from fieldmark.judging.classifier import record, settings_of

    settings = None if given is None else settings_of(folder, given, trusted=trust)
    if settings is None:
        return None
    model = make(settings)
    model.check_reachable()
    record(folder, settings, model)
    return model


def _say(line: str) -> None:
    click.echo(line, err=True)


def _told(done: Classified | Chained) -> str:
    from fieldmark.chaining import Chained

    return _told_of_chain(done) if isinstance(done, Chained) else _told_of_classes(done)


def _told_of_chain(done: Chained) -> str:
    by = ", ".join(f"{n} {what}" for what, n in sorted(done.by.items()))
    lines = [f"{done.run}: {done.wrong} answers are not correct, by {done.scheme}: {by or 'none'};"
             f" {done.written} rows written"]  # fmt: skip
    return "\n".join(lines + [f"  {link:24}{n:5}" for link, n in done.links.items()])


def _told_of_classes(done: Classified) -> str:
    left = sum(done.open.values())
    lines = [
        f"{done.run}: {counted(done.wrong, 'answer is', 'answers are')} not correct: {done.by_facts} "
        f"classified by facts, {done.by_model} by a model, {left} left open; "
        f"{counted(done.written, 'row')} written"
    ]
    lines += [f"  {label:24}{n:5}" for label, n in sorted(done.labels.items(), key=lambda row: -row[1])]
    lines += [f"  open: {why:18}{n:5}" for why, n in sorted(done.open.items(), key=lambda row: -row[1])]
    return "\n".join(lines)
