"""Programs of others: what they print, how they end, and what they leave behind."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from fieldmark.agents.external import process
from fieldmark.agents.external.adapter import Launch


def never(stdout: str) -> bool:
    return False


def shell(script: str, stdin: str = "") -> Launch:
    return Launch(["/bin/sh", "-c", script], stdin=stdin)


def test_it_reads_stdin_and_both_outputs_and_the_exit_code(tmp_path: Path) -> None:
    output = process.carry_out(shell("cat; echo trouble >&2; exit 3", "the question"), tmp_path, never)

    assert (output.stdout, output.stderr, output.exit_code) == ("the question", "trouble\n", 3)
    assert not output.lingered


def test_it_works_in_the_workspace_and_says_so(tmp_path: Path) -> None:
    """OpenCode takes its directory from PWD."""
    output = process.carry_out(shell("/bin/pwd; env | grep ^PWD="), tmp_path, never)

    assert output.stdout == f"{tmp_path}\nPWD={tmp_path}\n"


def test_bytes_that_are_no_text_are_kept_as_marks(tmp_path: Path) -> None:
    assert "�" in process.carry_out(shell(r"printf '\377\376ok'"), tmp_path, never).stdout


def test_one_that_has_spoken_and_does_not_end_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 7-16: prints its JSON, leaves a sleeper in the background, stays."""
    monkeypatch.setattr(process, "GRACE", 0.3)
    script = "sleep 300 & echo $! >child; echo '{\"final\": 1}'; sleep 300"

    output = process.carry_out(shell(script), tmp_path, lambda said: "final" in said)

    assert output.lingered
    assert output.stdout == '{"final": 1}\n'
    assert gone(int((tmp_path / "child").read_text()))


def test_a_child_that_outlives_it_is_ended_and_holds_nobody_up(tmp_path: Path) -> None:
    began = time.monotonic()

    output = process.carry_out(shell("sleep 300 & echo $! >child; echo done"), tmp_path, never)

    assert output.stdout == "done\n"
    assert gone(int((tmp_path / "child").read_text()))
    assert time.monotonic() - began < 60


def test_what_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        process.carry_out(Launch([str(tmp_path / "agent")]), tmp_path, never)


def test_output_beyond_the_limit_is_read_and_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT", 1000)
    script = f"{sys.executable} -c \"print('x' * 10**7)\"; exit 5"

    output = process.carry_out(shell(script), tmp_path, never)

    assert output.exit_code == 5
    assert len(output.stdout) < 10**6


def gone(pid: int) -> bool:
    """Whether a process is no more, or only waits to be buried."""
    for _ in range(50):
        with suppress(FileNotFoundError, ProcessLookupError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                time.sleep(0.1)
                continue
        return True
    os.kill(pid, 9)
    return False
