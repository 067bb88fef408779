"""Find a benchmark by name or path and load it; a faulty file is refused, all its problems in one line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.rows import read_rows, refuse

TASKS = "tasks.jsonl"
GALLERIES = "amigo-garments"
"""The bundled games of AMIGO, which have episodes in place of tasks."""
OF_THE_USER = {
    "fika": "fieldmark.evals.benchmarks.fika.loading",
    "fine-r1": "fieldmark.evals.benchmarks.fine_r1.loading",
    "pix2fact": "fieldmark.evals.benchmarks.pix2fact.loading",
    "amigo": "fieldmark.evals.benchmarks.galleries",
}
"""Benchmarks whose data the user brings → the module whose `load(data, said)` reads them. One with
SETTINGS is given those and `seed` by name.
"""


def load_benchmark(
    name_or_path: str,
    data: Path | None = None,
    mapping: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Benchmark:
    """A bundled benchmark by name, or a folder with a `tasks.jsonl`, such a file, or one of the user's data.

    `data` and `mapping` (field → key of its manifest) are for benchmarks whose data the user brings,
    `settings` and `seed` for those of them that are asked in more than one way.
    `index/index.jsonl`, `registry.csv`, `site/` and `guard.txt` (a host or host/path a line, `#` for remarks)
    beside the tasks are taken along. A picture that is not there is
    no error here (the run's preflight reports it). Raises UsageError.
    """
    if name_or_path in OF_THE_USER:
        module = import_module(OF_THE_USER[name_or_path])
        if data is None:
            raise UsageError(f"--benchmark {name_or_path} needs --data: {module.NEEDED}")
        taken = getattr(module, "SETTINGS", ())
        _refuse_settings(settings or {}, taken)
        more = {**(settings or {}), "seed": seed} if taken else {}
        loaded: Benchmark = module.load(data, mapping or {}, **more)
        return loaded
    _refuse_settings(settings or {}, ())
    if data is not None or mapping:
        option = "--data" if data is not None else "--map"
        brought = " or ".join(OF_THE_USER)
        raise UsageError(f"{option} is for --benchmark {brought}: give another benchmark by its path alone")
    if name_or_path.replace("_", "-") == GALLERIES:
        return import_module(OF_THE_USER["amigo"]).bundled()  # type: ignore[no-any-return]
    bundled = _bundled()
    path = bundled[name_or_path] / TASKS if name_or_path in bundled else _task_file(name_or_path)
    rows = read_rows(path)
    refuse(str(path), rows.problems or ([] if rows.tasks else ["it holds no task"]))
    folder = path.parent
    index = folder / "index"
    registry = folder / "registry.csv"
    guard = folder / "guard.txt"
    return Benchmark(
        name=name_or_path if name_or_path in bundled else _name(path),
        version=_version(path, index / "index.jsonl", registry, *_optional(guard, folder / "site")),
        tasks=rows.tasks,
        index=index if (index / "index.jsonl").is_file() else None,
        registry=registry if registry.is_file() else None,
        site=folder / "site" if (folder / "site").is_dir() else None,
        guard=_guard(guard),
        description=_description(folder / "README.md"),
        warnings=rows.warnings,
    )


def _refuse_settings(settings: Mapping[str, Any], taken: Sequence[str]) -> None:
    for name in settings:
        if name not in taken:
            takers = [
                each for each, module in OF_THE_USER.items()
                if name in getattr(import_module(module), "SETTINGS", ())
            ]  # fmt: skip
            raise UsageError(
                f"--{name.replace('_', '-')} is for --benchmark {' or '.join(takers)}: leave it out"
            )


def bundled_names() -> list[str]:
    """The names of the benchmarks with tasks that come with fieldmark; beside them there are GALLERIES."""
    return sorted(_bundled())


def _bundled() -> dict[str, Path]:
    here = Path(str(files("fieldmark.evals.benchmarks")))
    return {path.parent.name.replace("_", "-"): path.parent for path in here.glob(f"*/{TASKS}")}


def _task_file(name_or_path: str) -> Path:
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        path = path / TASKS
        if not path.is_file():
            raise UsageError(f"no {TASKS} in {path.parent}: put one there, or name the .jsonl file itself")
    elif path.is_file() and path.suffix != ".jsonl":
        raise UsageError(f"{path} is not a .jsonl file: write one JSON object a line, as in {TASKS}")
    elif not path.is_file():
        known, brought = ", ".join([GALLERIES, *bundled_names()]), ", ".join(OF_THE_USER)
        raise UsageError(
            f"unknown benchmark {name_or_path!r}: known are {known}, and {brought} with --data; "
            f"the path of a {TASKS} (or of the folder that holds it) works too"
        )
    return path.resolve()


def _name(path: Path) -> str:
    return path.parent.name if path.name == TASKS else path.stem


def _version(*parts: Path) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if part.is_file() else b""
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:12]


def _optional(guard: Path, site: Path) -> list[Path]:
    """The guard list and the pages of the site, where there are any; in one order everywhere."""
    pages = sorted((p for p in site.rglob("*") if p.is_file()), key=lambda p: p.relative_to(site).as_posix())
    return [*([guard] if guard.is_file() else []), *pages]


def _guard(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [entry for line in lines if (entry := line.partition("#")[0].strip())]


def _description(readme: Path) -> str:
    """The first line of a README that is text and not its title."""
    if not readme.is_file():
        return ""
    lines = readme.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")
