"""The comparison of a study's arms as plain tables."""

from __future__ import annotations

from fieldmark.evals.comparison.orders import OrderEffect, Quarter
from fieldmark.evals.comparison.study import ArmFacts, StudyComparison
from fieldmark.evals.report.comparison_tables import paired_tables, points_interval
from fieldmark.evals.report.figures import count, interval, number, percent, points
from fieldmark.evals.report.memory_table import effects_table
from fieldmark.evals.report.plots import Mark, Plot, whiskers
from fieldmark.evals.report.table import Table


def study_tables(made: StudyComparison) -> list[Table]:
    """What the arms are first, then what came out of each, then how they differ."""
    compared = paired_tables(made.comparison) if made.comparison.versus else []
    tables = [
        _arms(made), _accuracy(made), *compared, _effects(made), _orders(made), _quarters(made),
        _memory(made), effects_table(made.changed), _cost(made)
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def study_plots(made: StudyComparison) -> list[Plot]:
    """The accuracy of each arm, its difference to the baseline, and the way from cold to warm."""
    arms = [
        Mark(f"{arm.arm} ({count(arm.accuracy.strict)})", arm.accuracy.strict.fraction, arm.accuracy.interval)
        for arm in made.arms
    ]
    others = [versus.paired for versus in made.comparison.versus]
    gains = [
        Mark(f"{paired.b} (n = {paired.table.n})", paired.difference, paired.interval) for paired in others
    ]
    way = [
        Mark(
            f"{each.arm}, quarter {each.quarter} ({count(each.correct)})",
            each.correct.fraction,
            each.interval,
        )
        for each in made.quarters
    ]
    against = f"To {made.arms[0].arm}, in percentage points, with the 95 % interval."
    plots = [
        (whiskers("Strict accuracy of each arm", "Per cent, with the 95 % interval.", arms), arms),
        (whiskers("Difference to the baseline", against, gains, signed=True), gains),
        (whiskers("Strict accuracy along the way", "From cold to warm, with the 95 % interval.", way), way),
    ]
    return [plot for plot, marks in plots if marks]


def _arms(made: StudyComparison) -> Table:
    note = (
        f"{made.benchmark}. The baseline is {made.arms[0].arm}. differs in: aspects of run.json that are "
        "not as in it; what no axis explains (code, image, prompts) makes a difference hard to read."
    )
    if made.missing:
        note += f" Not begun, and in no table: {', '.join(made.missing)}."
    rows = [
        [
            arm.arm + _partial(arm),
            *(arm.values.get(axis, "–") for axis in made.axes),
            ", ".join(arm.differs) or "–",
        ]
        for arm in made.arms
    ]
    columns = ["arm", *made.axes, "differs in"]
    return Table(f"Arms of {made.name}", note, columns, rows, len(columns))


def _accuracy(made: StudyComparison) -> Table:
    columns = "arm|correct /done|strict %|CI 95%|soft /done|soft %|faults|unjudged|not run".split("|")
    rows = [
        [
            arm.arm + _partial(arm),
            count(row.strict), percent(row.strict.fraction), interval(row.interval),
            count(row.soft), percent(row.soft.fraction),
            *map(str, (row.sandbox_error, row.unjudged, row.not_run)),
        ]
        for arm in made.arms
        for row in [arm.accuracy]
    ]  # fmt: skip
    note = (
        "strict = correct/done, soft = (correct + partially correct)/done; a task counts with the mean of "
        "its epochs and orders. CI: Wilson's of strict, or a bootstrap over tasks where looks disagree. "
        f"faults (not the agent's), unjudged and not run count episodes.{_detectable(made)}"
    )
    return Table("Accuracy by arm", note, columns, rows)


def _detectable(made: StudyComparison) -> str:
    told = made.detectable
    if told is None:
        return ""
    if told.effect is None:
        return " So few tasks find no improvement on the baseline with probability 0.8."
    return (
        f" An improvement of {100 * told.effect:.1f} points or more on the baseline is found with "
        f"probability {told.power:g} (level {told.alpha:g}, assumed agreement {told.shared:g}); of a smaller "
        "one this study says little."
    )


def _effects(made: StudyComparison) -> Table:
    rows = [
        [
            effect.axis, effect.value, effect.base,
            str(effect.pairs), str(effect.tasks), points(effect.difference), points_interval(effect.interval),
        ]
        for effect in made.effects
    ]  # fmt: skip
    note = (
        "difference: strict accuracy with the value less that with the other, in points, averaged over the "
        "pairs of arms that differ in nothing else; by task, over tasks done in all of them. Axes that act "
        "only together are hidden in it: look at the arms."
    )
    columns = "axis|value|against|pairs of arms|tasks|difference|CI 95%".split("|")
    return Table("Main effect of each axis", note, columns, rows, 3)


def _orders(made: StudyComparison) -> Table:
    note = (
        "Strict accuracy of each order, over tasks done in all orders of the arm; SD: standard deviation "
        "between orders, in points. unstable: tasks right in some orders, wrong in others. p: permutation "
        "test of no difference between orders. An agent that does not repeat itself is unstable without any "
        "order effect."
    )
    columns = "arm|tasks|orders|lowest %|highest %|SD|unstable|p".split("|")
    return Table("Effect of the order", note, columns, [_order(each) for each in made.orders])


def _order(each: OrderEffect) -> list[str]:
    found = list(each.accuracies.values())
    return [
        each.arm, str(each.tasks), str(len(found)), percent(min(found)), percent(max(found)),
        number(100 * each.sd, 1), str(each.unstable), f"{each.p:.4f}",
    ]  # fmt: skip


def _quarters(made: StudyComparison) -> Table:
    note = (
        "From cold to warm: quarters of the way through the tasks, over all orders. difference: less what "
        "the arm under against has right of the same tasks in the same place of the same order, in points; "
        "only that is free of which tasks come late. It is the baseline, for an arm with a memory the arm "
        "without that is alike in all else. CI by target."
    )
    columns = "arm|against|quarter|correct /looks|%|CI 95%|pairs|difference|CI 95% of it".split("|")
    return Table("Along the way", note, columns, [_quarter(each) for each in made.quarters], 2)


def _quarter(each: Quarter) -> list[str]:
    return [
        each.arm, each.against or "–", str(each.quarter),
        count(each.correct), percent(each.correct.fraction), interval(each.interval),
        str(each.paired), points(each.difference), points_interval(each.difference_interval),
    ]  # fmt: skip


def _memory(made: StudyComparison) -> Table:
    rows = [
        [
            used.arm, str(used.notes), str(used.readings), f"{used.readers}/{used.episodes}",
            f"{used.stood}/{used.readers}",
            count(used.correct), percent(used.correct.fraction),
        ]
        for used in made.memory
    ]  # fmt: skip
    note = (
        "notes that its memories hold; read: notes read by episodes, one counted once an episode; readers: "
        "episodes that read any; answer in a note: theirs, right or wrong, stands in a note they read. Those "
        "that read nothing are other tasks: what a memory does, the difference of the arms says. `fieldmark "
        "memory RUN` follows each note."
    )
    columns = "arm|notes|read|readers /episodes|answer in a note|correct /readers|%".split("|")
    return Table("Memory by arm", note, columns, rows)


def _cost(made: StudyComparison) -> Table:
    note = (
        "Of episodes that ended by the agent's doing. USD and tokens as far as they are known: – is not 0. "
        "Tokens are the agent's own."
    )
    columns = "arm|episodes|USD|USD each|tokens in|tokens out|mean s".split("|")
    return Table("Cost by arm", note, columns, [_cost_row(arm) for arm in made.arms])


def _cost_row(arm: ArmFacts) -> list[str]:
    spent = arm.money
    each = spent.usd / spent.known if spent.usd is not None and spent.known else None
    own = next((row for row in arm.usage if row.role == "agent"), None)
    return [
        arm.arm, str(spent.episodes), number(spent.usd), number(each, 4),
        *("–" if value is None else f"{value:,}" for value in (own and own.input, own and own.output)),
        number(arm.seconds, 1),
    ]  # fmt: skip


def _partial(arm: ArmFacts) -> str:
    return " · PARTIAL" if arm.partial else ""
