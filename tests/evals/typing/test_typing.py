"""Questions typed by a model, over real HTTP, and the file that a run takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.evals.asking.reply import NotUsed
from fieldmark.evals.benchmarks.facets import read_facets
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.evals.judges.base import Unjudged
from fieldmark.evals.typing.dimensions import DIMENSIONS
from fieldmark.evals.typing.reply import read_reply
from fieldmark.evals.typing.typer import make
from fieldmark.model_config import ClassifierConfig
from fieldmark.own_data import with_own_data
from fieldmark.task_selection import select_tasks
from tests.conftest import Fieldmark
from tests.model_server import Body, ModelServer, Reply

TYPES = {
    "perception type": "Object Counting",
    "knowledge domain": "Dynamic & Current Events",
    "logic type": "Parametric Query",
}
QUESTIONS = {
    "a": "How many hats?",
    "b": "What is written on the boat?",
    "c": "Who founded the maker of the car?",
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """Three tasks, two of them with a logic type already."""
    file = tmp_path / "bench" / "tasks.jsonl"
    file.parent.mkdir()
    rows = [
        {"id": name, "question": question, "image": "x.jpg", "answer": f"SECRET-{name}"}
        | ({"labels": {"facets": {"logic type": "Parametric Query"}}} if name != "c" else {})
        for name, question in QUESTIONS.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def typed_by_word(body: Body) -> Reply:
    """OCR where something is written, else as TYPES."""
    question = json.loads(body["messages"][1]["content"])["question"]
    reading = {"perception type": "OCR", "logic type": "Direct Lookup"} if "written" in question else {}
    return Reply(json.dumps(TYPES | reading))


def test_questions_become_facets_that_a_run_chooses_by(
    benchmark: Path, tmp_path: Path, fieldmark: Fieldmark
) -> None:
    out = tmp_path / "types.tsv"
    with ModelServer(typed_by_word) as server:
        asked = [
            "data",
            "type",
            "--benchmark",
            str(benchmark),
            "--model",
            "scripted",
            "--base-url",
            server.url,
        ]
        done = fieldmark(*asked, "--out", str(out))
        told = json.loads(fieldmark(*asked, "--out", str(out), "--json").stdout)
        bodies = server.requests
    assert done.returncode == 0, done.stderr
    assert len(bodies) == 3  # the second call had nothing left to ask
    assert "SECRET" not in json.dumps(bodies)
    assert all(
        value in bodies[0]["messages"][0]["content"] for values in DIMENSIONS.values() for value in values
    )
    assert read_facets(out)["b"] == TYPES | {"perception type": "OCR", "logic type": "Direct Lookup"}
    agreed = told["agreement"]["logic type"]
    assert (agreed["n"], agreed["raw"]["count"], agreed["kappa"]) == (2, 1, 0.0)
    assert "Confusion: logic type" in done.stdout

    config = load_config(None, {"benchmark": str(benchmark), "facets": out, "where": "perception type=OCR"})
    loaded = with_own_data(load_benchmark(config.benchmark), config)
    assert [task.id for task in select_tasks(loaded.tasks, loaded.name, config)] == ["b"]


def test_the_answer_is_shown_only_when_it_is_asked_for(benchmark: Path) -> None:
    task = load_benchmark(str(benchmark)).tasks[0]
    with ModelServer([Reply(json.dumps(TYPES))]) as server:
        settings = ClassifierConfig(name="scripted", base_url=server.url)
        without, shown = make(settings), make(settings, with_answer=True)
        assert without(task) == shown(task) == TYPES
        assert ["SECRET-a" in json.dumps(body) for body in server.requests] == [False, True]
    assert without.name != shown.name


def test_what_is_no_type_is_asked_again_and_then_left_out(benchmark: Path) -> None:
    task = load_benchmark(str(benchmark)).tasks[0]
    with ModelServer([Reply("OCR, I think")]) as server:
        with pytest.raises(Unjudged, match="3 replies without a type"):
            make(ClassifierConfig(name="scripted", base_url=server.url))(task)
        assert "was not used" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (TYPES | {"logic type": "Guessing"}, "logic type is none of Direct Lookup"),
        (TYPES | {"reason": "so"}, "its keys are not"),
        ({"perception type": "OCR"}, "its keys are not"),
    ],
)
def test_a_reply_has_exactly_the_three(reply: dict[str, str], why: str) -> None:
    with pytest.raises(NotUsed, match=why):
        read_reply(json.dumps(reply))
    with pytest.raises(NotUsed, match="repeats"):
        read_reply(json.dumps(TYPES), [f"as in {json.dumps(TYPES)}"])


def test_a_file_of_another_model_is_not_gone_on_with(
    benchmark: Path, tmp_path: Path, fieldmark: Fieldmark
) -> None:
    out = tmp_path / "types.tsv"
    out.write_text("# typed by hand\nid\tname\tvalue\na\tlogic type\tDirect Lookup\n")
    with ModelServer(typed_by_word) as server:
        asked = [
            "data",
            "type",
            "--benchmark",
            str(benchmark),
            "--model",
            "scripted",
            "--base-url",
            server.url,
        ]
        done = fieldmark(*asked, "--out", str(out))
        assert (done.returncode, "is not by this model and prompt (typed by hand)" in done.stderr) == (
            2,
            True,
        )
        assert fieldmark(*asked, "--out", str(out), "--anew").returncode == 0
    assert len(read_facets(out)) == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id\tname\n", "the header is not id, name, value"),
        ("id\tname\tvalue\na\tlogic type\n", "line 2: give id, name and value"),
        ("id\tname\tvalue\na\tx\t1\na\tx\t2\n", "line 3: a has 'x' twice"),
        ("id\tname\tvalue\nz\tx\t1\n", "none of its ids is a task of bench"),
        ("id\tname\tvalue\na\ttop\t1\n", "top is no facet but a label"),
    ],
)
def test_a_faulty_file_is_refused(benchmark: Path, tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "facets.tsv"
    file.write_text(text)
    config = load_config(None, {"benchmark": str(benchmark), "facets": file})
    with pytest.raises(UsageError, match=why):
        with_own_data(load_benchmark(config.benchmark), config)
