"""From a TOML file, flags and a preset to a Study. Everything that is wrong with it is told before it begins.

[matrix]                            every combination is an arm
memory = ["off", "inherit"]
skills = ["none", "all"]

[arms.base]                         or: each arm by its name, all with the same options
memory = "off"

orders = 3                          each arm in the orders 1, 2, 3 of the seed
baseline = "memory-off_skills-none" the arm that the others are compared with; else the first
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark.config import RunConfig, known_options, make_config
from fieldmark.errors import UsageError
from fieldmark.study.matrix import Arm, combined, named
from fieldmark.study.study import Study, StudyRun
from fieldmark.toml_file import read_toml

ASKED = ("matrix", "arms", "orders", "baseline", "preset")
"""Keys that make a study of a file or of flags."""
SHARED = {
    **dict.fromkeys(("benchmark", "data", "map", "tasks", "where", "limit"), "its arms do the same tasks"),
    **dict.fromkeys(("order", "seed"), "give the orders 1 to K of one seed by orders = K"),
    **dict.fromkeys(
        (
            "parallel",
            "min_free_mb",
            "preflight",
            "allow_blind",
            "strict",
            "memory_url",
            "executor",
            "address",
        ),
        "it changes no result",
    ),
    **dict.fromkeys(("max_cost", "max_hours", "prices"), "it holds for the study"),
    "with_twin": "let closed_book be an arm",
    **dict.fromkeys(("name", "out"), "each arm is a folder of the study"),
}
"""Options that are no axis → why."""
_MOST = 1000
"""Orders at most."""


def is_study(options: dict[str, Any], flags: dict[str, Any]) -> bool:
    """Whether a file or flags ask for a study, not for one run."""
    return any(key in options or flags.get(key) is not None for key in ASKED)


def read_study(toml: Path | None, flags: dict[str, Any]) -> Study:
    """The study of a file and flags; UsageError names the axis, the arm or the option that is wrong."""
    options, given = (read_toml(toml) if toml else {}), {k: v for k, v in flags.items() if v is not None}
    preset = given.pop("preset", options.pop("preset", None))
    if preset:
        options = _with_preset(preset, options)
    orders = _orders(given.pop("orders", options.pop("orders", None)), options)
    baseline, arms = options.pop("baseline", None), _arms(options)
    _check_axes(arms[0], options, given)
    if options.get("with_twin") or given.get("with_twin"):
        raise UsageError("with_twin is for one run: in a study let closed_book be an arm")
    path = _path(toml, preset, options, given)
    baseline = arms[0].name if baseline is None else _known(baseline, arms)
    if orders != [None] and "order" in {**options, **given}:
        raise UsageError("order is that of one run, orders are those of a study: leave one of them out")
    if orders == [None] and not arms[0].options:
        raise UsageError("a study needs arms: write a [matrix], [arms.NAME] tables, or orders = K")
    runs = [_run(arm, order, path, options, given, toml) for arm in arms for order in orders]
    return Study(path, arms, baseline, runs)


def _with_preset(name: str, options: dict[str, Any]) -> dict[str, Any]:
    folder = files("fieldmark.study") / "presets"
    known = sorted(
        file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")
    )
    if name not in known:
        raise UsageError(f"unknown preset {name!r}: the presets are {', '.join(known)}")
    if own := {"matrix", "arms"} & options.keys():
        raise UsageError(f"[{own.pop()}] beside the preset {name}, which has its arms: leave one of them out")
    return {**read_toml(Path(str(folder / f"{name}.toml"))), **options}


def _arms(options: dict[str, Any]) -> list[Arm]:
    """Takes [matrix] and [arms] out of the options."""
    matrix, tables = options.pop("matrix", {}), options.pop("arms", {})
    if matrix and tables:
        raise UsageError("[matrix] and [arms.NAME] in one file: leave one of them out")
    if not isinstance(matrix, dict) or not isinstance(tables, dict):
        raise UsageError("[matrix] and [arms] are tables: write [matrix], and under it axis = [values]")
    return combined(matrix) if matrix else named(tables) if tables else [Arm("run", {})]


def _orders(asked: Any, options: dict[str, Any]) -> list[int | None]:
    """`orders = K` are 1 to K; as an axis they are listed, and may hold 0, the benchmark's own."""
    matrix = options.get("matrix")
    listed = matrix.pop("orders", None) if isinstance(matrix, dict) else None
    if asked is not None and listed is not None:
        raise UsageError("orders stand in [matrix] and beside it: leave one of them out")
    if listed is not None:
        if not isinstance(listed, list) or not all(_whole(order, 0) for order in listed) or not listed:
            raise UsageError(f"[matrix] orders: give a list of whole numbers from 0, not {listed!r}")
        return list(dict.fromkeys(listed))
    if asked is None:
        return [None]
    if not _whole(asked, 1):
        raise UsageError(f"orders: give a whole number from 1 to {_MOST}, not {asked!r}")
    return list(range(1, asked + 1))


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST


def _check_axes(arm: Arm, options: dict[str, Any], flags: dict[str, Any]) -> None:
    for axis in arm.options:
        if axis not in known_options():
            raise UsageError(
                f"unknown axis {axis!r}: an axis is an option of a run: {', '.join(known_options())}"
            )
        if axis in SHARED:
            raise UsageError(f"{axis} is no axis of a study: {SHARED[axis]}")
        for place, there in (("above it", options), ("as a flag", flags)):
            if axis in there:
                raise UsageError(f"{axis} is an axis, and stands {place} too: leave one of them out")


def _path(toml: Path | None, preset: str | None, options: dict[str, Any], flags: dict[str, Any]) -> Path:
    out, name = (flags.pop(key, None) or options.get(key) for key in ("out", "name"))
    if out:
        return Path(out)
    name = name or (toml.stem if toml else preset)
    if not name:
        raise UsageError("several orders make a study: name it with --name, so that it can be gone on with")
    return Path("runs") / name


def _known(baseline: Any, arms: list[Arm]) -> str:
    names = [arm.name for arm in arms]
    if baseline not in names:
        raise UsageError(f"baseline {baseline!r} is no arm: the arms are {', '.join(names)}")
    return str(baseline)


def _run(
    arm: Arm, order: int | None, path: Path, options: dict[str, Any], flags: dict[str, Any], toml: Path | None
) -> StudyRun:
    name = arm.name if order is None else f"{arm.name}-o{order}"
    own = {"name": name, "out": path / name, **({} if order is None else {"order": order})}
    try:
        config = make_config({**options, **arm.options, **own}, flags, toml)
    except UsageError as error:
        raise UsageError(f"arm {arm.name}: {error}") from None
    return StudyRun(name, arm, order, _fitted(config))


def _fitted(config: RunConfig) -> RunConfig:
    """What only arms with a memory can use, or only arms without, may stand for all of them."""
    unused: dict[str, Any] = {} if config.memory == "inherit" else {"waves": None}
    unused |= {"memory_url": None, "memory_form": "store"} if config.memory == "off" else {}
    most = config.most_at_once
    parallel = min(config.parallel, most) if config.parallel and most else config.parallel
    return config.model_copy(update={**unused, "parallel": parallel})
