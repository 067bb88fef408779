"""A run that is disturbed: in a world of its own, so that all it leaves behind can be counted."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
from PIL import Image

from fieldmark.records import EpisodeRecord
from fieldmark.run_reader import LOCK
from fieldmark.rundir import RunDir
from fieldmark.sandbox.container import LABEL
from tests.conftest import FIELDMARK, OWNERS
from tests.model_server import Body, Call, Reply

DELAY = 0.15
"""Seconds that the scripted model takes."""
MARK = "FIELDMARK_CRASH_SCENE"
"""In the environment of every process that a scene starts, and so of whatever those start."""


def one_look_then_answer(body: Body) -> Reply:
    """The model of a scene: it crops once, then answers."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})], delay=DELAY)
    return Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 90, "y2": 60})], delay=DELAY)


def wait_for(what: Callable[[], Any], seconds: float = 180) -> None:
    """Until `what` holds; an AssertionError when it does not in time."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class Scene:
    """Tasks and a run folder of their own; sockets and temporary files in folders that nobody else has.

    `host`: another Docker engine than the usual one.
    """

    def __init__(self, folder: Path, base_url: str, *, host: str | None = None) -> None:
        self.name = f"crash-{secrets.token_hex(4)}"
        self.folder = folder
        self.out = folder / self.name
        self.sockets = Path(tempfile.mkdtemp(prefix="fmc", dir="/tmp"))  # AF_UNIX paths end at 107 bytes
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.errors = folder / "errors.txt"
        self.env = {
            **os.environ, **({"DOCKER_HOST": host} if host else {}), MARK: self.name,
            "XDG_RUNTIME_DIR": str(self.sockets), "TMPDIR": str(self.temporary),
        }  # fmt: skip
        self.engine = docker.DockerClient(host) if host else docker.from_env()
        self.options = ["--agent", "react", "--model", "scripted", "--base-url", base_url]
        self.where: list[str] = []  # options of every start, also of one that goes on
        self.ignored: set[Path] = set()
        self._seen: dict[tuple[str, int, str], str] = {}

    def tasks(self, count: int, questions: tuple[str, ...] = ("Which colour?",)) -> None:
        """Write the benchmark: one red square, asked `count` times."""
        Image.new("RGB", (96, 64), "red").save(self.folder / "red.png")
        gold = {"answer": "red", "source": "drawn"}
        rows = [
            {"id": f"t{n}", "question": questions[n % len(questions)], "image": "red.png", "gold": gold}
            for n in range(count)
        ]
        (self.folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Begin the run, or go on with it."""
        if (self.out / "run.json").exists():
            what = ["--resume", str(self.out)]
        else:
            what = ["--no-probe", "--benchmark", str(self.folder / "tasks.jsonl"), *self.options]
            what += ["--out", str(self.out), "--parallel", "2"]
        with self.errors.open("ab") as errors:
            process = subprocess.Popen(
                [FIELDMARK, "run", *what, *self.where, *more],
                env=self.env, cwd=self.folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            )  # fmt: skip
        OWNERS.add(process.pid)
        return process

    def finished(self) -> int:
        """How many episodes are committed."""
        episodes = self.out / "episodes.jsonl"
        return episodes.read_bytes().count(b"\n") if episodes.exists() else 0

    def keep_in_mind(self) -> None:
        """What is judged by now must still stand at the end."""
        self._seen |= self._verdicts()

    def end(self, seconds: float = 240) -> list[EpisodeRecord]:
        """Resume until it is done, then check all that is promised; the episodes."""
        process = self.start()
        assert process.wait(seconds) == 0, self.told()
        run = RunDir.open(self.out)
        expected = {f"t{n}": 1 for n in range(sum(1 for _ in (self.folder / "tasks.jsonl").open()))}
        records = run.episodes()
        assert Counter(record.id for record in records) == expected
        assert Counter(key[0] for key in self._verdicts()) == expected
        assert self._seen.items() <= self._verdicts().items(), "a verdict has changed"
        assert {path.name for path in run.traces.iterdir()} == {record.trace for record in records}
        for record in records:
            assert [*run.trace(record)][-1].kind == "episode_end"
        assert "Traceback" not in self.told()
        left = self.left()
        assert not left, left
        return records

    def told(self) -> str:
        """All that the runs said."""
        return self.errors.read_text()

    def left(self) -> list[str]:
        """Everything of the scene that is still there: containers, processes, sockets, temporary files."""
        rows = self.engine.api.containers(all=True, filters={"label": f"{LABEL}={self.name}"})
        hidden = [path for path in self.out.rglob(".*") if path.name != LOCK]
        stray = {*self.sockets.iterdir(), *self.temporary.iterdir(), *hidden} - self.ignored
        return [*(f"container {row['Id'][:12]}" for row in rows), *self.processes(), *map(str, sorted(stray))]

    def processes(self) -> list[str]:
        """Processes that carry the scene's mark, whoever their parent is by now."""
        mark = f"{MARK}={self.name}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found.append(f"process {folder.name} {words.decode(errors='replace')[:200]}")
            except OSError:
                continue
        return found

    def _verdicts(self) -> dict[tuple[str, int, str], str]:
        rows = RunDir(self.out).verdicts().values() if self.out.exists() else []
        return {(row.id, row.epoch, row.judge): row.label for row in rows}
