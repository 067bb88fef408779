#!/usr/bin/env python3
"""Says under which licence each dependency of fieldmark is, and fails on one that a user could not accept.

    .venv/bin/python scripts/licences.py

Every distribution that the core needs, directly or not, must be under a licence of `ALLOWED`, or stand with a
reason in the table of exceptions of docs/licences.md. GPL, AGPL, proprietary and unknown ones fail, and so
does an exception that nothing needs any more. Extras are not looked at: who asks for one reads its licence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

ALLOWED = frozenset(
    "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python HPND ISC LGPL-2.1-or-later LGPL-3.0-only "
    "MIT MIT-0 MIT-CMU MPL-1.1 MPL-2.0 PSF-2.0 Unlicense Zlib".split()
)
"""SPDX names."""
WORDS = {
    r"mit( license)?|mit license \(mit\)": "MIT",
    r"apache( software)?( license)?,? ?(version )?2\.0|apache software license|apache-2\.0": "Apache-2.0",
    r"(the )?bsd.?2.clause( license)?|2-clause bsd": "BSD-2-Clause",
    r"(new |modified )?bsd( license)?|bsd.?3.clause|3-clause bsd": "BSD-3-Clause",
    r"mozilla public license 2\.0( \(mpl 2\.0\))?|mpl-2\.0": "MPL-2.0",
    r"python software foundation license|psf-2\.0": "PSF-2.0",
    r"isc license( \(iscl\))?": "ISC",
}
"""How distributions without an SPDX expression call it, and what that is."""
EXCEPTIONS = Path(__file__).parents[1] / "docs" / "licences.md"


def needed(root: str) -> dict[str, metadata.Distribution]:
    """Every distribution that `root` needs on this machine, by its normal name; without `root` itself."""
    found: dict[str, metadata.Distribution] = {}
    todo = [Requirement(root)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        asked = todo.pop()
        key = (normal(asked.name), frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        found[key[0]] = metadata.distribution(asked.name)
        todo += _requirements(found[key[0]], asked.extras)
    found.pop(normal(root))
    return dict(sorted(found.items()))


def _requirements(distribution: metadata.Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in distribution.requires or []:
        asked = Requirement(line)
        contexts = [{**default_environment(), "extra": extra} for extra in (extras or {""})]
        if asked.marker is None or any(asked.marker.evaluate(context) for context in contexts):
            yield asked


def licence(distribution: metadata.Distribution) -> str:
    """An SPDX expression: its own, else what its text or its classifiers say, else "unknown"."""
    said = distribution.metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    classifiers = [line for line in said.get_all("Classifier") or [] if line.startswith("License ::")]
    texts = [said.get("License") or "", *(line.rpartition("::")[2].strip() for line in classifiers)]
    named = [_spdx(text) for text in texts]
    return next((name for name in named if name), "unknown")


def _spdx(text: str) -> str | None:
    """Also of "MIT OR Apache-2.0" and "MIT License, Apache License, Version 2.0"."""
    parts = re.split(r"\s+or\s+|,(?!\s*version)\s*", " ".join(text.split()), flags=re.IGNORECASE)
    names = [_word(part) for part in parts]
    return " OR ".join(name for name in names if name) if all(names) else None


def _word(text: str) -> str | None:
    return next((name for words, name in WORDS.items() if re.fullmatch(words, text, re.IGNORECASE)), None)


def is_allowed(expression: str) -> bool:
    """Of an SPDX expression: every part of an AND, one of an OR; AND binds closer, as SPDX has it."""
    inner = re.compile(r"\(([^()]*)\)")
    while match := inner.search(expression):
        verdict = "MIT" if is_allowed(match[1]) else "refused"
        expression = expression[: match.start()] + verdict + expression[match.end() :]
    return any(
        all(name.strip() in ALLOWED for name in either.split(" AND ")) for either in expression.split(" OR ")
    )


def exceptions(page: Path = EXCEPTIONS) -> dict[str, str]:
    """Package → reason, from the table under "## Exceptions"."""
    _, _, table = page.read_text(encoding="utf-8").partition("## Exceptions")
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    return {normal(name): reason.strip() for name, reason in rows}


def problems(licences: dict[str, str], excepted: dict[str, str]) -> list[str]:
    """One line each: what may not be here, and exceptions that are for nothing."""
    refused = {name for name, expression in licences.items() if not is_allowed(expression)}
    return [
        *(
            f"{name}: {licences[name]}: replace it, or give a reason in docs/licences.md"
            for name in sorted(refused - set(excepted))
        ),
        *(
            f"{name}: docs/licences.md excepts it for nothing: take it out there"
            for name in sorted(set(excepted) - refused)
        ),
    ]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    licences = {name: licence(found) for name, found in needed("fieldmark").items()}
    for name, expression in licences.items():
        print(f"{name:32} {expression}")
    found = problems(licences, exceptions())
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
