"""The check on the licences of dependencies: what it refuses, and how it reads what packages declare."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "licences.py"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("licences", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared(tmp_path: Path, script: Any, *lines: str) -> str:
    """The licence of a distribution whose METADATA has these lines."""
    folder = tmp_path / "thing-1.0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.1", "Name: thing", "Version: 1.0", *lines, ""])
    )
    return str(script.licence(script.metadata.Distribution.at(folder)))


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("MIT AND (GPL-3.0-only OR AGPL-3.0-only)", False),
        ("GPL-3.0-or-later", False),
        ("LicenseRef-Proprietary", False),
        ("unknown", False),
    ],
)
def test_of_a_choice_one_part_must_do_and_of_a_sum_all(script: Any, expression: str, allowed: bool) -> None:
    assert script.is_allowed(expression) is allowed


def test_how_packages_say_it(tmp_path: Path, script: Any) -> None:
    assert declared(tmp_path, script, "License-Expression: MIT-0") == "MIT-0"
    assert declared(tmp_path, script, "License: Apache License, Version 2.0") == "Apache-2.0"
    assert (
        declared(tmp_path, script, "License: MIT License, Apache License, Version 2.0") == "MIT OR Apache-2.0"
    )
    by_classifier = "Classifier: License :: OSI Approved :: BSD License"
    assert declared(tmp_path, script, by_classifier) == "BSD-3-Clause"
    gpl = "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
    assert declared(tmp_path, script, gpl) == "unknown"
    assert declared(tmp_path, script) == "unknown"


def test_what_is_refused_needs_a_reason_and_a_reason_needs_a_package(script: Any) -> None:
    licences = {"good": "MIT", "bad": "GPL-3.0-only"}
    assert script.problems(licences, {"bad": "reason"}) == []
    [refused] = script.problems(licences, {})
    assert refused.startswith("bad: GPL-3.0-only")
    [idle] = script.problems({"good": "MIT"}, {"bad": "reason"})
    assert "excepts it for nothing" in idle


def test_an_exception_is_a_row_of_the_page(tmp_path: Path, script: Any) -> None:
    page = tmp_path / "licences.md"
    page.write_text(
        "# L\n\n## Exceptions\n\n| package | licence | why |\n|---|---|---|\n| `A_b` | GPL | as a tool |\n"
    )
    assert script.exceptions(page) == {"a-b": "as a tool"}


def test_everything_that_the_core_needs_is_acceptable(script: Any) -> None:
    licences = {name: script.licence(found) for name, found in script.needed("fieldmark").items()}
    assert {"langgraph", "pydantic-core", "numpy"} <= set(licences)  # direct and not
    assert script.problems(licences, script.exceptions()) == []
