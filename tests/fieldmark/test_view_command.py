"""`fieldmark view` as a user starts it."""

from __future__ import annotations

import signal
import socket
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK, Fieldmark, spawn

if TYPE_CHECKING:
    from subprocess import Popen


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """A run that has just begun."""
    folder = RunDir.create(tmp_path / "runs" / "begun")
    folder.write_config(
        {"name": "begun", "agent": "react", "state": "running", "started": "2026-11-30T10:00:00Z"}
    )
    folder.write_tasks([{"id": "t", "question": "What?"}], {})
    folder.lock()
    return folder


def _first_line(process: Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def test_it_prints_an_address_serves_and_ends_cleanly(run: RunDir) -> None:
    process = spawn([FIELDMARK, "view", "--port", "0"], cwd=run.path.parents[1])
    try:
        address = _first_line(process).split()[1]
        with urllib.request.urlopen(address, timeout=20) as reply:
            page = reply.read().decode()
        assert address.startswith("http://127.0.0.1:")
        assert "begun" in page
        assert "data-live" in page
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


def test_beyond_this_machine_the_address_has_a_token(run: RunDir) -> None:
    process = spawn([FIELDMARK, "view", str(run.path), "--host", "0.0.0.0", "--port", "0"])
    try:
        assert "/?token=" in _first_line(process)
    finally:
        process.kill()
        process.communicate()


def test_what_cannot_be_shown_is_said_in_one_line(fieldmark: Fieldmark, tmp_path: Path, run: RunDir) -> None:
    (tmp_path / "empty").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, words in (
            (["nowhere"], "nowhere is not a folder"),
            (["empty"], "empty holds no run yet"),
            (["runs", "--annotator", "classifier"], "and not 'classifier'"),
            (
                ["runs", "--port", str(port)],
                f"cannot listen on 127.0.0.1 port {port}: Address already in use",
            ),
        ):
            done = fieldmark("view", *arguments)
            assert (done.returncode, done.stdout) == (2, "")
            assert words in done.stderr
            assert done.stderr.count("\n") == 1
