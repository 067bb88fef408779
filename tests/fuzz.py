"""Every property test, steered by the code that its inputs reach (atheris) instead of drawn at random.

    make fuzz    or, a minute each of some:    FIELDMARK_FUZZ_SECONDS=60 make fuzz NAMES='jsonl model_text'

Each runs in a process of its own until its time is over or what it says does not hold; the input is then in
Hypothesis' database, and the ordinary test fails by it too.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

TESTS = Path(__file__).parent
SECONDS = 30


def properties(files: list[Path]) -> dict[str, Callable[[bytes], bytes | None]]:
    """`tests.module:test_name` → the test of one input, which is made of the bytes it is given."""
    found = {}
    for file in files:
        name = ".".join(file.relative_to(TESTS.parent).with_suffix("").parts)
        for test, function in vars(importlib.import_module(name)).items():
            if test.startswith("test_") and hasattr(function, "hypothesis"):
                found[f"{name}:{test}"] = function.hypothesis.fuzz_one_input
    return found


def fuzz(name: str, options: list[str]) -> None:
    """Does not return: libFuzzer ends the process, with 0 when nothing was found."""
    import atheris

    module = name.partition(":")[0]
    with atheris.instrument_imports(include=["fieldmark"]):
        test = properties([TESTS.parent / f"{module.replace('.', '/')}.py"])[name]
    atheris.Setup([name, *options], test)
    atheris.Fuzz()


def fuzz_all(names: list[str], seconds: int) -> bool:
    """Whether everything held; prints how much was tried of each."""
    table, held = Table("property", "inputs", "places reached", "held"), True
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            options = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
            command = [sys.executable, "-m", "tests.fuzz", name, *options]
            done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
        tried = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
        reached = re.findall(r"cov: (\d+)", done.stderr)
        table.add_row(
            name.removeprefix("tests."), f"{int(tried[-1]):,}" if tried else "?",
            reached[-1] if reached else "?", "no" if done.returncode else "yes",
        )  # fmt: skip
        if done.returncode:
            held = False
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    Console(width=130).print(table)
    return held


def main() -> None:
    """No name: all. A name with a colon, and libFuzzer's options: that one, here."""
    asked = sys.argv[1:]
    if asked and ":" in asked[0]:
        fuzz(asked[0], asked[1:])
    files = [
        file
        for file in sorted(TESTS.rglob("test_*_properties.py"))
        if not asked or any(name in file.name for name in asked)
    ]
    sys.exit(not fuzz_all([*properties(files)], int(os.environ.get("FIELDMARK_FUZZ_SECONDS", SECONDS))))


if __name__ == "__main__":
    main()
