"""The paper's figures 13 to 16 as tables: counts as replayed, and the lexicon's own Skips beside theirs.

python -m fieldmark.evals.amigo.paper
"""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.amigo.agreement import DetectorAgreement, inconsistent, with_paper
from fieldmark.evals.amigo.detector import Detector, LexiconDetector
from fieldmark.evals.amigo.lexicon import Lexicon, base_lexicon
from fieldmark.evals.amigo.replay import Dialogue, detected, dialogues, play
from fieldmark.evals.failures.agreement import Agreement
from fieldmark.evals.report.table import Table


def replayed(played: Sequence[Dialogue]) -> Table:
    """Counts of each figure, as the game counts them with the paper's replies."""
    rows = []
    for dialogue in played:
        record = play(dialogue)
        skips = sum(not turn.valid for turn in record.turns)
        premature = sum(upload.premature for upload in record.uploads)
        echoes = sum(upload.heard == "echo" for upload in record.uploads)
        outcome = record.over.outcome if record.over else "not over"
        counts = [len(record.turns), skips, premature, echoes]
        rows.append([f"figure {dialogue.figure}", *map(str, counts), outcome])
    return Table(
        "Figures 13–16, replayed",
        "The paper's own Skips and answers; no guess is incorrect in the paper too.",
        ["dialogue", "turns", "Skips", "premature", "echoes", "outcome"],
        rows,
        wraps="outcome",
    )


def beside(detector: Detector, lexicon: Lexicon, asked: Sequence[Dialogue]) -> Table:
    """Every turn on which a detector and a figure say different things."""
    rows = []
    for dialogue in asked:
        said = detected(detector, lexicon, dialogue)
        for number, (turn, ours) in enumerate(zip(dialogue.turns, said, strict=True), 1):
            kind = ours.kind if ours else None
            if kind != turn.skip:
                printed = turn.skip or turn.reply or ""
                rows.append([f"figure {dialogue.figure}", str(number), turn.asks, printed, kind or "valid"])
    return Table(
        f"Turns on which {detector.name} and the paper differ",
        _inconsistent(lexicon, asked),
        ["dialogue", "turn", "asks", "the paper", detector.name],
        rows,
        texts=frozenset({2, 3, 4}),
    )


def agreed(found: DetectorAgreement) -> Table:
    """Cohen's κ on Skip or not, and on the kind."""
    rows = [_row("Skip or not", found.skip), _row("kind of violation", found.kind)]
    return Table(
        f"{found.skip.first} and {found.skip.second}: agreement",
        "The 95 % interval is of a large sample, and these are a few dozen turns.",
        ["on", "turns", "same", "κ", "95 %"],
        rows,
    )


def paper_tables(detector: Detector, lexicon: Lexicon) -> list[Table]:
    known = dialogues()
    return [replayed(known), beside(detector, lexicon, known), agreed(with_paper(detector, lexicon, known))]


def _inconsistent(lexicon: Lexicon, asked: Sequence[Dialogue]) -> str:
    told = [
        f"figure {each.figure}, turns {', '.join(map(str, each.turns))} ({each.type})"
        for each in inconsistent(lexicon, asked)
    ]
    return f"Answered in the paper though they ask about one type: {'; '.join(told) or 'none'}."


def _row(name: str, found: Agreement) -> list[str]:
    kappa = "–" if found.kappa is None else f"{found.kappa:.2f}"
    spread = f"{found.interval[0]:.2f} to {found.interval[1]:.2f}" if found.interval else found.why
    return [name, str(found.n), f"{found.raw.count:g}", kappa, spread]


if __name__ == "__main__":
    from fieldmark.evals.report.terminal import print_tables

    print_tables(paper_tables(LexiconDetector(base_lexicon()), base_lexicon()))
