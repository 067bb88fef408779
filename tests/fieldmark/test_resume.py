"""Kill it in the middle: nothing finished is lost, nothing of ours stays behind, resume does the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from fieldmark.sandbox import owner, reaper
from fieldmark.sandbox.container import DEADLINE_LABEL, LABEL, OWNER_LABEL, PLACE_LABEL
from tests.conftest import FIELDMARK, Fieldmark, ours, spawn
from tests.model_server import ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")
SLOW = Reply('{"answer": "red"}', delay=2.0)


@pytest.fixture
def six(tiny: Path) -> Path:
    """Six tasks: the tiny benchmark, one and a half times."""
    rows = [json.loads(line) for line in tiny.read_text().splitlines()]
    tiny.write_text(
        "".join(
            json.dumps({**row, "id": f"{row['id']}-{n}"}) + "\n" for n, row in enumerate([*rows, *rows[:2]])
        )
    )
    return tiny


def start(server: ModelServer, tasks: Path, out: Path, agent: str = "closed_book") -> subprocess.Popen[str]:
    command = [
        FIELDMARK, "run", "--benchmark", str(tasks), "--agent", agent, "--model", "scripted",
        "--base-url", server.url, "--out", str(out), "--parallel", "3",
    ]  # fmt: skip
    return spawn(command, start_new_session=True)


def wait_for(what: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def workers_of(pid: int, session: int) -> list[str]:
    """Worker processes that a runner started, whether it still runs or not."""
    command = ["ps", "-ww", "-o", "pgid,args", "-s", str(session)]
    rows = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [row for row in rows if row.split()[0] == str(pid) and "spawn_main" in row]


def finished(out: Path) -> int:
    episodes = out / "episodes.jsonl"
    return episodes.read_bytes().count(b"\n") if episodes.exists() else 0


def test_kill_9_then_resume_runs_every_task_exactly_once(
    fieldmark: Fieldmark, six: Path, tmp_path: Path, engine: Any
) -> None:
    out = tmp_path / "out"
    before = ours(engine)
    with ModelServer([SLOW]) as server:
        run = start(server, six, out, "react")  # its tools need worker processes on the host
        wait_for(lambda: finished(out) >= 3)
        session = os.getsid(run.pid)
        assert workers_of(run.pid, session)
        run.kill()
        run.wait()
        kept = (out / "episodes.jsonl").read_bytes()
        wait_for(lambda: not workers_of(run.pid, session), 10)
        # the workers notice that their gateway is gone, end, and the engine removes their containers;
        # one that was made and not yet started is left to the reaper
        wait_for(lambda: ours(engine, running=True) <= before, 20)
        done = fieldmark("run", "--resume", "out")
        assert ours(engine) <= before
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (out / "episodes.jsonl").read_text().splitlines()]
    assert Counter(row["id"] for row in rows) == {task["id"]: 1 for task in RunDir(out).tasks()}
    assert (out / "episodes.jsonl").read_bytes().startswith(kept)
    assert len(RunDir(out).verdicts()) == 6
    assert {path.name for path in (out / "traces").iterdir()} == {row["trace"] for row in rows}


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.crash)])
def test_a_stop_leaves_nothing_and_says_how_to_go_on(
    fieldmark: Fieldmark, six: Path, tmp_path: Path, engine: Any, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    before = ours(engine)
    with ModelServer([SLOW]) as server:
        run = start(server, six, out)
        wait_for(lambda: finished(out) >= 2)
        run.send_signal(number)
        _, errors = run.communicate(timeout=15)
        assert run.returncode == 1
        assert f"fieldmark run --resume {out}" in errors
        assert "Traceback" not in errors
        assert ours(engine) <= before
        assert RunDir.open(out).config()["state"] == "interrupted"
        done = fieldmark("run", "--resume", "out", "--parallel", 6)
    assert done.returncode == 0, done.stderr
    assert len(RunDir.open(out).episodes()) == 6


@pytest.mark.parametrize(
    "delay", [0.02, *(pytest.param(each, marks=pytest.mark.crash) for each in (0.0, 0.2))]
)
def test_a_stop_while_the_run_is_closing_still_removes_everything(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, engine: Any, delay: float
) -> None:
    """Also when it comes twice: the second one must not cut the clearing up short."""
    before = ours(engine)
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        run = start(server, tiny, tmp_path / "out")
        wait_for(lambda: finished(tmp_path / "out") == 4)
        time.sleep(delay)
        for _ in range(2):
            run.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        _, errors = run.communicate(timeout=15)
    assert ours(engine) <= before
    assert "Traceback" not in errors
    assert "Unclosed" not in errors


@pytest.mark.parametrize(
    "seconds", [1.5, *(pytest.param(each, marks=pytest.mark.crash) for each in (1.0, 2.0, 2.5))]
)
def test_a_stop_while_the_run_is_starting_is_quiet(
    tiny: Path, tmp_path: Path, engine: Any, seconds: float
) -> None:
    before = ours(engine)
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        run = start(server, tiny, tmp_path / "out")
        time.sleep(seconds)
        run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=15)
    assert ours(engine) <= before
    assert "Traceback" not in errors


def test_a_second_runner_of_the_same_folder_is_refused(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    with ModelServer([Reply(hang=True)]) as server:
        run = start(server, tiny, tmp_path / "out")
        wait_for(lambda: server.requests)
        second = fieldmark("run", "--resume", "out")
        run.send_signal(signal.SIGINT)
        run.wait(15)
    assert second.returncode == 2
    assert "another fieldmark process" in second.stderr


def test_a_torn_last_line_is_cut_and_its_episode_runs_again(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        arguments = [
            "--benchmark",
            tiny,
            "--agent",
            "closed_book",
            "--model",
            "scripted",
            "--base-url",
            server.url,
        ]
        fieldmark("run", *arguments, "--out", "out")
        episodes = tmp_path / "out" / "episodes.jsonl"
        whole = episodes.read_bytes()
        episodes.write_bytes(whole[:-40])
        done = fieldmark("run", "--resume", "out")
    assert done.returncode == 0, done.stderr
    assert "half-written" in done.stderr
    assert len(RunDir(tmp_path / "out").episodes()) == 4


def test_the_reaper_takes_only_what_is_ours_and_abandoned(engine: Any, sandbox_image: str) -> None:
    dead, alive = "999999999:1", owner.me()
    now = time.time()
    elsewhere = {LABEL: "x", OWNER_LABEL: dead, PLACE_LABEL: "another:1"}  # its processes cannot be seen
    newer = {LABEL: "x", OWNER_LABEL: "v2/unknown"}
    made = {
        name: engine.api.create_container(sandbox_image, ["sleep", "9"], labels=labels)["Id"]
        for name, labels in {
            "abandoned": {LABEL: "x", OWNER_LABEL: dead},
            "in use": {LABEL: "x", OWNER_LABEL: alive},
            "of elsewhere": {**elsewhere, DEADLINE_LABEL: str(int(now + 60))},
            "of elsewhere, late": {**elsewhere, DEADLINE_LABEL: str(int(now - 3600))},
            "of a newer version": {**newer, DEADLINE_LABEL: str(int(now + 60))},
            "somebody else's": {"other": "x"},
        }.items()
    }
    try:
        lines = reaper.reap(engine)
        left = {c["Id"] for c in engine.api.containers(all=True)}
    finally:
        for container in made.values():
            reaper.remove(engine, container)
    assert not {made["abandoned"], made["of elsewhere, late"]} & left
    spared = ("in use", "of elsewhere", "of a newer version", "somebody else's")
    assert {made[name] for name in spared} <= left
    assert any(made["abandoned"][:12] in line for line in lines)


def test_a_query_of_the_base_url_is_private_and_given_again_on_resume(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    """It can hold a key, so run.json leaves it out; the private part says where site and benchmark lie."""
    (tmp_path / "pages" / "guide.example").mkdir(parents=True)
    with ModelServer(
        [*[Reply('{"answer": "red"}')] * 2, Reply(status=401), Reply('{"answer": "blue"}')]
    ) as server:
        url = f"{server.url}?api-key=sk-TESTKEY-query"
        what = ["--benchmark", tiny, "--agent", "closed_book", "--model", "scripted", "--site", "pages"]
        fieldmark("run", *what, "--base-url", url, "--parallel", 1, "--out", "out")
        other = fieldmark("run", "--resume", "out", "--base-url", "http://127.0.0.1:9/v1")
        done = fieldmark("run", "--resume", "out", "--base-url", url)
    assert done.returncode == 0, done.stderr
    assert other.returncode == 2
    assert server.url in other.stderr
    assert len(RunDir(tmp_path / "out").episodes()) == 4
    written = (tmp_path / "out" / "run.json").read_text()
    assert "api-key" not in written
    assert str(tmp_path) not in written
    assert RunDir(tmp_path / "out").paths()["site"] == str(tmp_path / "pages")
