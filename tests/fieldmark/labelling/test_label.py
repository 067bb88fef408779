"""Persons label a sample of the wrong answers."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.findings import Failure, FailureMark
from fieldmark.labelling.sample import draw
from fieldmark.labelling.session import Person, Sitting, label_run
from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK
from tests.evals.conftest import RunBuilder

WRONG = 12


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """12 wrong answers that the classifier found too broad, 3 right ones, one unjudged."""
    built = RunBuilder(tmp_path / "out")
    for number in range(WRONG):
        built.task(f"w{number:02}").episode(f"w{number:02}", verdict="incorrect").step(("ocr", "ok"))
    for number in range(3):
        built.task(f"right{number}").episode(f"right{number}", verdict="correct")
    built.task("unjudged").episode("unjudged")
    folder = built.finish()
    for number in range(WRONG):
        row = Failure(
            id=f"w{number:02}", taxonomy=VERSION, outcome="incorrect", label="too_broad", link="reasoning",
            stage="facts", classifier="facts",
        )  # fmt: skip
        jsonl.append(folder.failures_file, row.model_dump(mode="json"))
    return folder


def labelled(
    run: RunDir, name: str, keys: str, *, sample: int = 3, lines: tuple[str, ...] = (), **more: Any
) -> tuple[Sitting, str]:
    """What was done, and all that was shown."""
    left, notes, shown = list(keys), list(lines), list[str]()
    person = Person(name, lambda: left.pop(0) if left else "", lambda: notes.pop(0), shown.append)
    done = label_run(run, person, sample=sample, annotators=more.get("annotators", 2), seed=0)
    return done, "\n".join(shown)


def marks(run: RunDir, name: str) -> list[tuple[str, str | None, str | None, str]]:
    return [(m.label, m.sub, m.link, m.note) for m in run.failure_marks() if m.annotator == name]


def test_the_sample_is_of_the_wrong_answers_and_grows(run: RunDir) -> None:
    grid = cells(run)
    drawn = draw(grid, 5, 3)
    assert draw(grid, 9, 3)[:5] == drawn
    assert draw(grid, 5, 4) != drawn
    assert {cell.outcome for cell in draw(grid, 99, 3)} == {"incorrect"}
    assert len(draw(grid, 99, 3)) == WRONG
    assert draw([cell for cell in grid if cell != drawn[1]], 4, 3) == [drawn[0], *drawn[2:]]


def test_a_class_a_sub_class_a_link_and_a_note(run: RunDir) -> None:
    done, shown = labelled(run, "ann", "1mrn4s0-", lines=("only the maker",))
    assert (done.sample, done.left) == (3, 0)
    assert marks(run, "ann") == [
        ("wrong_entity_retrieval", "misjudged", "retrieval", ""),
        ("too_broad", None, "reasoning", "only the maker"),
        ("judge_or_label_doubt", None, None, ""),
    ]
    assert "reference: SECRET-w" in shown
    assert "verdict:   incorrect" in shown
    assert "[  4] calls: ocr" in shown


def test_it_goes_on_where_it_was_left(run: RunDir) -> None:
    first, _ = labelled(run, "ann", "4sq")
    again, shown = labelled(run, "ann", "4s4s")
    assert (first.labelled, again.labelled) == (1, 3)
    assert "2 left" in shown
    assert "\n1/3" not in shown


def test_skip_leaves_an_answer_for_later_and_back_takes_a_label_again(run: RunDir) -> None:
    done, shown = labelled(run, "ann", "s4sb2g5-")
    assert done.left == 1
    assert "your label: too_broad · reasoning" in shown
    assert sorted(label for label, *_ in marks(run, "ann")) == ["no_acquisition", "visual_grounding"]
    assert labelled(run, "ann", "4s")[0].left == 0


def test_keys_in_the_middle_can_be_taken_back_or_left(run: RunDir) -> None:
    done, _ = labelled(run, "ann", "1xb4s1q")
    assert marks(run, "ann") == [("too_broad", None, "reasoning", "")]
    assert done.left == 2


def test_annotators_see_the_same_answers_and_nothing_of_each_other(run: RunDir) -> None:
    _, ann = labelled(run, "ann", "4s4s4sn", sample=3)
    done, bob = labelled(run, "bob", "2g2g2g", sample=3)
    assert done.others == ["ann"]
    assert [line for line in ann.splitlines() if line.startswith("reference")] == [
        line for line in bob.splitlines() if line.startswith("reference")
    ]
    before_a_key = bob.partition("→")[0]
    assert "your label" not in bob
    assert "reasoning ·" not in before_a_key
    assert "facts" not in bob


def test_only_so_many_persons_label(run: RunDir) -> None:
    labelled(run, "ann", "4s")
    labelled(run, "bob", "4s")
    with pytest.raises(UsageError, match=r"ann, bob have labelled .* --annotators 3"):
        labelled(run, "cem", "4s")
    assert labelled(run, "cem", "4s", annotators=3)[0].labelled == 1
    assert labelled(run, "ann", "4s", annotators=3)[0].labelled == 2


def test_a_label_in_sight_of_another_is_asked_for_again_and_is_no_annotator_of_the_sample(
    run: RunDir,
) -> None:
    for name in ("ann", "eve"):
        for cell in draw(cells(run), 1, 0):
            run.add_failure_mark(
                FailureMark(id=cell.id, epoch=cell.epoch, annotator=name, label="too_broad", sighted=True)
            )
    done, _ = labelled(run, "ann", "q", sample=1, annotators=1)
    assert (done.labelled, done.others) == (0, [])


@pytest.mark.parametrize("name", ["", "classifier", "x" * 41, "a\nb"])
def test_a_name_is_a_name(run: RunDir, name: str) -> None:
    with pytest.raises(UsageError, match="--annotator"):
        labelled(run, name, "")


def test_a_run_without_wrong_answers_or_gold_is_refused(run: RunDir) -> None:
    run.gold_file.unlink()
    with pytest.raises(UsageError, match="label where the run was made"):
        labelled(run, "ann", "")
    run.verdicts_file.unlink()
    with pytest.raises(UsageError, match=r"no answer of .* is wrong"):
        labelled(run, "ann", "")


def test_control_characters_of_a_model_stay_off_the_terminal(run: RunDir) -> None:
    rows = jsonl.read(run.episodes_file).rows
    jsonl.write_all(run.episodes_file, [{**row, "answer": "Saab\x1b[2J\n340"} for row in rows])
    _, shown = labelled(run, "ann", "q")
    assert "Saab [2J 340" in shown


def fieldmark(run: RunDir, keys: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [FIELDMARK, "label", "out", "--sample", "2", *options]
    return subprocess.run(
        command, input=keys, text=True, capture_output=True, cwd=run.path.parent, env=os.environ, timeout=60
    )


def test_agreement_is_told_to_who_is_through(run: RunDir) -> None:
    part = fieldmark(run, "ann\n4\ns\n")
    assert part.stdout.splitlines()[0] == "ann: 1 of 2 labelled", part.stderr
    assert "κ" not in part.stdout
    whole = fieldmark(run, "4\nr\n", "--annotator", "ann")
    assert "class, ann and classifier: κ – (both used one and the same class" in whole.stdout
    assert "1 more to label it: fieldmark label out --annotator NAME" in whole.stdout
    other = json.loads(fieldmark(run, "4\nr\n2\ng\n", "--annotator", "bob", "--json").stdout)
    assert (other["left"], other["others"]) == (0, ["ann"])
    assert [pair["n"] for pair in other["validity"]["labels"]] == [2, 2, 2]


def test_keys_come_from_a_terminal(run: RunDir) -> None:
    """A key needs no Enter; a note ends with one; killed, the sitting goes on with what was said."""
    ours, theirs = pty.openpty()
    command = [FIELDMARK, "label", "out", "--sample", "2", "--annotator", "ann"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=run.path.parent, text=True
    )
    for shown, keys in (
        ("b back", b"n"),
        ("note:", b"das Heck\n"),
        ("note:", b"4"),
        ("link", b"s"),
        ("→", b""),
    ):
        if keys != b"4":  # which follows the note without a word in between
            _until(process, shown)
        time.sleep(0.3)  # what is typed before a key is waited for is thrown away
        os.write(ours, keys)
    process.kill()
    process.wait()
    os.close(theirs)
    os.close(ours)
    assert marks(run, "ann") == [("too_broad", None, "reasoning", "das Heck")]
    assert "1 left" in fieldmark(run, "q\n", "--annotator", "ann").stderr


def _until(process: subprocess.Popen[str], words: str) -> None:
    """Read what is told until these words come."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"{words!r} did not come")
