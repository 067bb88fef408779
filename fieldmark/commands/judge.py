"""`fieldmark judge`: judge a run, or judge it again, without running it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fieldmark.judging.again import Judged

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


def judge_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say who judges, and by what."""
    for option in reversed(
        [
            click.option(
                "--judge",
                help="exact, llm, pix2fact, fine-r1, or a Python file of your own.  [default: exact]",
            ),
            click.option("--judge-model", help="The model of --judge llm or pix2fact."),
            click.option("--judge-url", help="Its OpenAI-compatible server.  [default: $OPENAI_BASE_URL]"),
            click.option(
                "--judge-key-env", help="The variable that holds its key.  [default: OPENAI_API_KEY]"
            ),
            click.option(
                "--judge-votes", type=int, help="Votes on each answer; a tie is uncertain.  [default: 1]"
            ),
            click.option(
                "--judge-aliases",
                type=click.Choice(["joined", "any", "none"]),
                help="Aliases beside the reference, each asked about by itself, or none.  [default: joined]",
            ),
            click.option("--judge-seed", help="Sent to the judge, + 1 a vote; or none.  [default: 0]"),
            click.option(
                "--judge-temperature",
                help="Sent to the judge; none for a model that refuses it.  [default: 0]",
            ),
            click.option(
                "--judge-variant",
                help="How fine-r1 scores: closed-strict, text-inclusion, semantic, …; docs/fine-r1.md."
                "  [default: strict in the closed world, text inclusion in the open one]",
            ),
            click.option(
                "--siglip",
                help="The text tower of the variant semantic: a folder, or a name of the hub."
                "  [default: google/siglip-base-patch16-256]",
            ),
            click.option(
                "--super-category",
                type=click.Choice(["official", "ours"]),
                help="What that variant calls bird, dog and pet: object, as the released code does, or so."
                "  [default: official]",
            ),
            click.option(
                "--prompts", type=_FOLDER, help="A folder with an llm.md (pix2fact.md) of your own."
            ),
        ]
    ):
        function = option(function)
    return function


@click.command("judge")
@click.argument("run", metavar="RUN|STUDY", type=click.Path(path_type=Path))
@judge_options
@click.option("--retry", is_flag=True, help="Only what is unjudged, by the run's judge; the default.")
@click.option("--anew", is_flag=True, help="Judge all of it, also what this judge has judged already.")
@click.option("--trust", is_flag=True, help="Use the server, key or Python file that its folder names.")
@click.option(
    "--audit", is_flag=True, help="Look at a sample of the answers yourself: how good is the judge?"
)
@click.option("--sample", type=click.IntRange(min=1), default=50, help="How many.  [default: 50]")
@click.option("--sample-seed", type=int, default=0, help="Draws another sample.  [default: 0]")
@click.option(
    "--json", "as_json", is_flag=True, help="What was done, and no tables, as JSON; an object a run."
)
def command(
    run: Path,
    retry: bool,
    anew: bool,
    trust: bool,
    audit: bool,
    sample: int,
    sample_seed: int,
    as_json: bool,
    **flags: Any,
) -> int:
    """Judge the episodes of a run, or of all runs of a study, without running them again.

    Without --judge: what is unjudged, by the judge that the run has. With another judge: all of it; its
    verdicts are the run's from then on, and the earlier ones stay in verdicts.jsonl, so that naming the first
    judge again costs nothing. Ends with 1 while an episode is unjudged.

    \b
    fieldmark judge runs/a --judge llm --judge-model qwen3-32b --judge-url http://localhost:8000/v1
    fieldmark judge runs/a --retry
    fieldmark judge runs/my-study --judge llm --judge-model qwen3-32b
    fieldmark judge runs/a --judge exact
    fieldmark judge runs/a --audit --sample 100      # y, n, ? or q for each; goes on where you left it
    """
    from fieldmark.config import load_config
    from fieldmark.errors import UsageError
    from fieldmark.judging.again import judge_again, recorded_judge
    from fieldmark.rundir import RunDir
    from fieldmark.study.folder import runs_at

    given = {key: value for key, value in flags.items() if value is not None}
    if audit:
        if given or retry or anew:
            raise UsageError("--audit looks at the verdicts that are there: leave the other options out")
        return _audit(RunDir.open(run), sample, sample_seed, as_json)
    if given and retry:
        raise UsageError("--retry is for the judge that the run has: leave the options of the judge out")
    done: list[tuple[str, Judged]] = []
    for folder in runs_at(run):
        settings = load_config(None, given).judge if given else recorded_judge(folder, trusted=trust)
        judged = judge_again(folder, settings, lambda line: click.echo(line, err=True), anew=anew)
        done.append((folder.path.name, judged))
        if as_json:
            click.echo(judged.model_dump_json(indent=2))
    if not as_json:
        _show(run, done)
    return 1 if any(judged.unjudged for _, judged in done) else 0


def _show(run: Path, done: Sequence[tuple[str, Judged]]) -> None:
    from fieldmark.commands.report import show, show_study
    from fieldmark.rundir import RunDir
    from fieldmark.study.folder import StudyDir

    study = StudyDir(run)
    show_study(study) if study.begun else show([RunDir.open(run)])
    for name, each in done:
        click.echo(
            (f"{name}: " if study.begun else "")
            + f"judge {each.judge}: {each.judged} judged now, {each.kept} before, {each.unjudged} unjudged;"
            f" {each.changed} have another verdict than before"
        )


def _audit(folder: Any, sample: int, seed: int, as_json: bool) -> int:
    from fieldmark.judging.audit import lines, run_audit
    from fieldmark.keyboard import read_key

    facts = run_audit(folder, sample, seed, read_key, lambda line: click.echo(line, err=True))
    click.echo(facts.model_dump_json(indent=2) if as_json else "\n".join(lines(facts)))
    return 0
