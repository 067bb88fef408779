"""The figures of a set of games as tables of a report: one row a τ, then all."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.amigo.scores import Rate
from fieldmark.evals.amigo.summary import Figures
from fieldmark.evals.report.table import Table

OUTCOMES = ("verified", "random_guess", "contradicted", "incorrect", "no_guess", "all")


def tables(figures: Sequence[Figures]) -> list[Table]:
    """Accuracy, rounds, keeping the rules, process; under noise two more."""
    made = [_accuracy(figures), _rounds(figures), _rules(figures), _process(figures)]
    if any(each.robustness for each in figures):
        made += [_noise(figures), _contradictions(figures)]
    return made


def _table(title: str, note: str, columns: list[str], rows: list[list[str]]) -> Table:
    return Table(title, note, ["τ", *columns], rows, totals=frozenset({len(rows) - 1}))


def _accuracy(figures: Sequence[Figures]) -> Table:
    rows = []
    for each in figures:
        found = each.accuracy
        parts = [found.overall, found.verified, found.random_guess, found.contradicted]
        rows.append([_tau(each), str(found.n), *map(_rate, parts), _percent(found.chance)])
    note = (
        "Percent, with 95 % intervals. Overall = verified + random guess + contradicted (correct although "
        "the target did not fit the answers). Chance: the mean of 1/|gallery|."
    )
    columns = ["games", "overall", "verified", "random guess", "contradicted", "chance"]
    return _table("Identification", note, columns, rows)


def _rounds(figures: Sequence[Figures]) -> Table:
    rows = [[_tau(each), *(_number(each.rounds[name].mean) for name in OUTCOMES)] for each in figures]
    return _table(
        "Rounds",
        "Mean turns before the end, Skips included. The paper's incorrect is incorrect and no guess.",
        [name.replace("_", " ") for name in OUTCOMES],
        rows,
    )


def _rules(figures: Sequence[Figures]) -> Table:
    kinds = sorted({kind for each in figures for kind in each.compliance.by_rule})
    rows = []
    for each in figures:
        kept = each.compliance
        shares = [kept.by_rule[kind].fraction if kind in kept.by_rule else 0.0 for kind in kinds]
        rates = [kept.skips.mean, kept.skips.turns.fraction, *shares]
        rates += [rate.share.fraction for rate in (kept.early, kept.premature_games, kept.premature_replies)]
        rows.append([_tau(each), *map(_percent, rates)])
    columns = ["Skips", "of turns", *(kind.replace("_", " ") for kind in kinds)]
    note = (
        "Percent. Skips: mean of each game's rate; of turns: pooled, then by kind. Early: guesses made while "
        "several images fitted. Premature: games with a question or guess before the end of uploading, and "
        "such replies of all replies before it."
    )
    return _table("Keeping the rules", note, [*columns, "early", "premature", "of replies"], rows)


def _process(figures: Sequence[Figures]) -> Table:
    rows = []
    for each in figures:
        went = each.process
        shares = [_percent(went.stalls.fraction), _percent(went.redundant.fraction)]
        bits = [_number(went.gain), _number(went.best_gain)]
        rows.append([_tau(each), str(went.turns), _number(went.eliminated), *shares, *bits])
    note = (
        "Per valid turn: images eliminated; percent that eliminated none, and whose question could not; "
        "expected bits of the question and of the best one at that point."
    )
    columns = ["valid turns", "eliminated", "stalls", "redundant", "bits", "best bits"]
    return _table("Process", note, columns, rows)


def _noise(figures: Sequence[Figures]) -> Table:
    found = [(each, each.robustness) for each in figures if each.robustness]
    rows = [
        [_tau(each), f"{noisy.noisy.count:g}", *map(_rate, (noisy.accuracy.overall, noisy.accuracy.verified))]
        for each, noisy in found
    ]
    note = "Games in which one answer was false."
    return _table("Under noise", note, ["games", "overall", "verified"], rows)


def _contradictions(figures: Sequence[Figures]) -> Table:
    rows = []
    for each in figures:
        if each.robustness:
            found = each.robustness
            ends = [_percent(share.fraction) for share in (*found.followed.values(), found.resolved)]
            count = f"{found.contradictions.share.count:g}"
            rows.append([_tau(each), count, _rate(found.contradictions), *ends])
    note = (
        "Noisy games in which no image fitted all answers any more, and their share of the noisy; how those "
        "games ended, and in how many some image fitted again."
    )
    columns = ["games", "of noisy", "verified", "guessed", "ran out", "resolved"]
    return _table("After a contradiction", note, columns, rows)


def _tau(each: Figures) -> str:
    return "all" if each.tau is None else f"{each.tau:g}"


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "–"
    low, high = 100 * rate.interval.low, 100 * rate.interval.high
    return f"{_percent(rate.share.fraction)} ({low:.1f}–{high:.1f})"


def _percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.1f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
