"""Two annotators at the same time, one of them in two windows: two real servers on one project."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.curation.audit.marks import Mark, mark, settle
from fieldmark.evals.curation.importing import decide_import, import_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Decision, Step
from fieldmark.evals.curation.sources.reading import read
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.evals.curation.pictures import save

MANY = 16
STEPS: tuple[Step, ...] = ("screen.first", "screen.hard", "leakage")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Sixteen candidates that wait for their audit."""
    for number in range(MANY):
        save(tmp_path / "in" / ("heron" if number % 2 else "egret") / f"{number}.png", number)
    with Project.create(tmp_path / "set") as made:
        import_all(made, "in", read(tmp_path / "in", None, "CC0-1.0"))
        decide_import(made)
        for each in list(made.candidates()):
            for step in STEPS:
                made.decide(step, each.id, "keep", "so far")
        yield made


class Annotator:
    """A real `curate audit`, and a client of its page."""

    def __init__(self, project: Project, name: str) -> None:
        command = [FIELDMARK, "curate", "audit", str(project.folder), "--annotator", name, "--port", "0"]
        self.name = name
        self.process: subprocess.Popen[str] = spawn(command)
        assert self.process.stdout
        self.base = self.process.stdout.readline().split()[1].rstrip("/")
        self.strange: list[str] = []

    def work(self, candidates: list[str], window: str, choices: str) -> None:
        """Mark each, as a window of a browser would; `choices` are taken in turn."""
        with httpx.Client(base_url=self.base, headers={"origin": self.base}, timeout=120) as client:
            for number, name in enumerate(candidates):
                page = client.get(f"/item/{name}").text
                token = re.search(r'name="token" value="([^"]+)"', page)
                form = {
                    "token": token[1] if token else "", "candidate": name, "note": window,
                    "choice": {"k": "keep", "d": "drop"}[choices[number % len(choices)]],
                }  # fmt: skip
                reply = client.post("/mark", data=form)
                if reply.status_code != 303 or not token:
                    self.strange.append(f"{reply.status_code}: {reply.text[-300:]}")

    def end(self) -> tuple[str, str]:
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)


def test_interleaved_marks_are_all_kept(project: Project, fieldmark: Fieldmark) -> None:
    names = [each.id for each in project.candidates("leakage")]
    ann, bob = Annotator(project, "ann"), Annotator(project, "bob")
    windows = [
        threading.Thread(target=ann.work, args=(names, "left", "kd")),
        threading.Thread(target=ann.work, args=(names[::-1], "right", "k")),
        threading.Thread(target=bob.work, args=(names, "bob", "k")),
    ]
    for each in windows:
        each.start()
    settled = 0
    while any(each.is_alive() for each in windows):  # someone asks for the agreement meanwhile
        assert fieldmark("curate", "audit", str(project.folder)).returncode == 0
        settled += 1
    for each in windows:
        each.join()
    ends = [ann.end(), bob.end()]
    assert settled
    assert (ann.strange, bob.strange) == ([], [])
    assert not any("locked" in text or "Traceback" in text for end in ends for text in end)

    rows = {name: project.history(name, "audit") for name in names}
    marked = {name: [(row.who, row.evidence["note"]) for row in rows[name] if row.who != "fieldmark"]
              for name in names}  # fmt: skip
    for name in names:
        assert sorted(marked[name]) == [("ann", "left"), ("ann", "right"), ("bob", "bob")]
    # what holds follows from the last mark of each, whoever's came last
    for name in names:
        last = {row.who: row.verdict for row in rows[name]}
        held = rows[name][-1]
        assert held.who == "fieldmark"
        agreed = "keep" if last["ann"] == "keep" else "open"
        assert held.verdict == agreed, [(row.who, row.verdict, row.why) for row in rows[name]]


def test_a_writer_that_does_not_end_is_told_in_a_line(project: Project) -> None:
    name = next(project.candidates("leakage")).id
    with Project.open(project.folder) as other:
        other.database.execute("PRAGMA busy_timeout = 50")
        project.database.execute("BEGIN IMMEDIATE")
        with pytest.raises(UsageError, match="call again when the other command has ended"):
            other.decide("audit", name, "keep", "no")
        project.database.execute("ROLLBACK")
        assert other.decide("audit", name, "keep", "yes") == "new"


class Meddled(Project):
    """Bob marks just after his marks were read."""

    def history(self, candidate_id: str, step: Step | None = None) -> list[Decision]:
        rows = super().history(candidate_id, step)
        with Project.open(self.folder) as other, contextlib.suppress(UsageError):
            other.database.execute("PRAGMA busy_timeout = 20")
            mark(other, candidate_id, "bob", Mark(choice="keep", label="egret"))
        return rows


def test_what_is_settled_is_never_older_than_a_mark(project: Project) -> None:
    name = next(project.candidates("leakage")).id
    mark(project, name, "ann", Mark(choice="keep", label="egret"))
    with Meddled.open(project.folder) as meddled:
        settle(meddled)
    mark(project, name, "bob", Mark(choice="keep", label="egret"))
    held = project.decision("audit", name)
    assert held
    assert held.verdict == "keep"
