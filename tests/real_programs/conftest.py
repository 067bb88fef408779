"""Programs of others that read our exports: `make test-programs` runs these, `make test` leaves them out.

They are installed into a virtual environment of their own. A file of this folder that is named to pytest runs
in any case.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

collect_ignore_glob = [] if os.environ.get("FIELDMARK_TEST_PROGRAMS") == "1" else ["test_*.py"]

PROGRAMS = ["datasets[vision]", "inspect-ai", "opentelemetry-proto", "pandas", "pyarrow", "pydantic"]
HARBOR = "harbor"
"""Wants Python 3.12; its models and validator of ATIF need pydantic only, and no more than 3.11."""


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the programs; $FIELDMARK_PROGRAMS names one that is there."""
    there = os.environ.get("FIELDMARK_PROGRAMS")
    if there:
        return Path(there) / "bin" / "python"
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    made = folder / "bin" / "python"
    subprocess.run([made, "-m", "pip", "install", "-q", *PROGRAMS], check=True)
    subprocess.run(
        [made, "-m", "pip", "install", "-q", "--no-deps", "--ignore-requires-python", HARBOR], check=True
    )
    return made
