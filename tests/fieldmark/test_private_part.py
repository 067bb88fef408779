"""Gold lies where other users of the machine cannot look."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fieldmark.rundir import RunDir


def test_the_private_part_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        run = RunDir.create(tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE(run.private.stat().st_mode) == 0o700
