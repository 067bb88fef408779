"""Exports for other programs: what is in them, and that no gold is. Those programs: tests/real_programs."""

from __future__ import annotations

import base64
import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result

import fieldmark
from fieldmark import jsonl
from fieldmark.commands.export import command
from fieldmark.errors import UsageError
from fieldmark.rundir import RunDir
from tests.fieldmark.exporting.recorded import recorded_run


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return recorded_run(tmp_path / "run")


def export(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], catch_exceptions=False)


def refusal(*arguments: object) -> str:
    with pytest.raises(UsageError) as caught:
        export(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def everything(out: Path) -> str:
    """All texts of an export, also those in a zip."""
    if out.suffix == ".eval":
        with zipfile.ZipFile(out) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())
    if out.is_file():
        return out.read_text("utf-8")
    files = [path for path in out.rglob("*") if path.is_file() and path.suffix != ".png"]
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.parametrize(
    ("choice", "name"),
    [("--csv", "c"), ("--parquet", "p"), ("--atif", "a"), ("--inspect", "i.eval"), ("--otel", "o.jsonl")],
)
def test_gold_only_when_it_is_asked_for_and_never_over_what_is_there(
    run: RunDir, tmp_path: Path, choice: str, name: str
) -> None:
    done = export(run.path, choice, tmp_path / name)
    assert "not to be published" in done.stdout
    assert "SECRET" not in everything(tmp_path / name)
    told = json.loads(export(run.path, choice, tmp_path / f"private-{name}", "--private", "--json").stdout)
    assert told["private"] is True
    if choice in ("--atif", "--inspect", "--otel"):
        assert "SECRET-a/1" in everything(tmp_path / f"private-{name}")
        assert "SECRET-reason" not in everything(tmp_path / f"private-{name}")
    assert "is there already" in refusal(run.path, choice, tmp_path / name)


def test_one_choice_and_a_place_outside(run: RunDir, tmp_path: Path) -> None:
    choices = "--public, --parquet, --csv, --atif, --inspect, --otel, --hf"
    assert choices in refusal(run.path)
    assert choices in refusal(run.path, "--csv", tmp_path / "a", "--atif", tmp_path / "b")
    assert "inside the run" in refusal(run.path, "--csv", run.path / "c")
    assert "end in .eval" in refusal(run.path, "--inspect", tmp_path / "x.zip")
    assert "--public and --private" in refusal(run.path, "--public", tmp_path / "p", "--private")
    assert "--pictures is for --hf" in refusal(run.path, "--csv", tmp_path / "p", "--pictures")
    assert "--traces is for --public" in refusal(run.path, "--csv", tmp_path / "p", "--traces")
    assert {path.name for path in tmp_path.iterdir()} == {"run"}


def test_parquet_has_the_tables_with_their_types(run: RunDir, tmp_path: Path) -> None:
    export(run.path, "--parquet", tmp_path / "p")
    frames = fieldmark.load(run.path)

    def ask(query: str) -> list[Any]:
        return duckdb.execute(query).fetchall()

    episodes = f"'{tmp_path / 'p' / 'episodes.parquet'}'"
    assert ask(f"SELECT id, epoch, outcome, correct, answer, confidence FROM {episodes} ORDER BY id") == [
        ("a/1", 1, "partially_correct", False, "=Saab 云栖", 0.5),
        ("b", 0, "no_answer", False, None, None),
        ("c", 0, "sandbox_error", None, None, None),
    ]
    types = dict(row[:2] for row in ask(f"DESCRIBE FROM {episodes}"))
    assert list(types) == list(frames.episodes.columns)
    assert (types["correct"], types["acts"], types["cost"], types["arm"]) == (
        "BOOLEAN",
        "BIGINT",
        "DOUBLE",
        "VARCHAR",
    )
    assert ask(f"SELECT name, ok FROM '{tmp_path / 'p' / 'calls.parquet'}' ORDER BY seq") == [
        ("crop_zoom", True), ("task", False),
    ]  # fmt: skip
    assert "seen" not in dict(row[:2] for row in ask(f"DESCRIBE FROM '{tmp_path / 'p' / 'facts.parquet'}'"))
    export(run.path, "--parquet", tmp_path / "private", "--private")
    facts = ask(f"DESCRIBE FROM '{tmp_path / 'private' / 'facts.parquet'}'")
    assert [row[0] for row in facts] == list(frames.facts.columns)


def test_csv_is_safe_in_excel(run: RunDir, tmp_path: Path) -> None:
    export(run.path, "--csv", tmp_path / "c")
    with (tmp_path / "c" / "episodes.csv").open(encoding="utf-8-sig", newline="") as file:
        first, second, _ = sorted(csv.DictReader(file), key=lambda row: row["id"])
    assert (first["answer"], first["confidence"], first["correct"]) == ("'=Saab 云栖", "0.5", "False")
    assert (second["answer"], second["confidence"], second["arm"]) == ("", "", "")


def test_an_atif_trajectory(run: RunDir, tmp_path: Path) -> None:
    assert export(run.path, "--atif", tmp_path / "a").stdout.startswith(f"{tmp_path / 'a'}: 3 trajectories")
    made = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "a").glob("*.json")}
    told = next(made[record.trace.removesuffix(".jsonl")] for record in run.episodes() if record.id == "a/1")
    assert told["schema_version"] == "ATIF-v1.7"
    assert [(step["step_id"], step["source"]) for step in told["steps"]] == [
        (1, "system"), (2, "user"), (3, "agent"), (4, "user"), (5, "agent"),
    ]  # fmt: skip
    image = told["steps"][1]["message"][1]["source"]["path"]
    assert (tmp_path / "a" / image).read_bytes().startswith(b"\x89PNG")
    reply = told["steps"][2]
    assert reply["metrics"] == {"prompt_tokens": 90, "completion_tokens": 7, "cached_tokens": 40}
    assert [call["tool_call_id"] for call in reply["tool_calls"]] == ["x", "x-m1.1"]
    zoomed, failed = reply["observation"]["results"]
    assert zoomed["extra"]["pictures"][0]["box"] == [1, 2, 30, 20]
    assert (failed["source_call_id"], failed["content"], failed["extra"]["ok"]) == (
        "x-m1.1",
        "too slow",
        False,
    )
    (sub,) = told["subagent_trajectories"]
    assert failed["subagent_trajectory_ref"][0]["trajectory_id"] == sub["trajectory_id"]
    assert [step["source"] for step in sub["steps"]] == ["system", "agent"]
    assert told["extra"]["fieldmark"]["verdict"]["label"] == "partially_correct"
    silent = next(each for each in made.values() if each["extra"]["fieldmark"]["status"] == "timeout")
    assert [step["message"] for step in silent["steps"]] == ["What is this?"]


def test_an_inspect_log(run: RunDir, tmp_path: Path) -> None:
    export(run.path, "--inspect", tmp_path / "i.eval")
    with zipfile.ZipFile(tmp_path / "i.eval") as archive:
        names = archive.namelist()
        header = json.loads(archive.read("header.json"))
        sample = json.loads(archive.read("samples/a/1_epoch_2.json"))
        summaries = {each["id"]: each for each in json.loads(archive.read("summaries.json"))}
        late = json.loads(archive.read("samples/b_epoch_1.json"))
    assert {"_journal/start.json", "samples/c_epoch_1.json"} <= set(names)
    assert header["results"]["scores"][0]["metrics"]["strict_accuracy"]["value"] == 0
    assert (header["results"]["total_samples"], header["results"]["completed_samples"]) == (6, 2)
    assert header["stats"]["model_usage"]["scripted"]["input_tokens"] == 50
    assert [message["role"] for message in sample["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    shown = sample["messages"][1]["content"][1]["image"].removeprefix("attachment://")
    assert base64.b64decode(sample["attachments"][shown].partition(",")[2]).startswith(b"\x89PNG")
    assert sample["messages"][4]["error"] == {"type": "timeout", "message": "too slow"}
    assert sample["scores"]["fieldmark"]["value"] == "P"
    assert late["limit"]["type"] == "time"
    assert summaries["c"]["error"] == "sandbox/oom: no memory"
    assert summaries["c"]["scores"] == {}


def test_an_inspect_transcript_holds_the_sub_agents(run: RunDir, tmp_path: Path) -> None:
    """Spans of the agent and its sub-agent; each message once, model events point to them."""
    export(run.path, "--inspect", tmp_path / "i.eval")
    with zipfile.ZipFile(tmp_path / "i.eval") as archive:
        sample = json.loads(archive.read("samples/a/1_epoch_2.json"))
    assert [(event["event"], event["span_id"]) for event in sample["events"]] == [
        ("span_begin", "agent"), ("model", "agent"), ("tool", "agent"), ("tool", "agent"),
        ("span_begin", "t2"), ("model", "t2"), ("span_end", "t2"),
        ("model", "agent"), ("span_end", "agent"), ("score", None),
    ]  # fmt: skip
    inside, begun = sample["events"][4], sample["events"][3]
    assert (inside["parent_id"], begun["agent_span_id"], begun["error"]["type"]) == (
        "agent",
        "t2",
        "timeout",
    )
    pool = sample["events_data"]["messages"]
    [[start, end]] = sample["events"][7]["input_refs"]
    assert [message["role"] for message in pool[start:end]] == [
        "system", "user", "assistant", "tool", "tool", "user",
    ]  # fmt: skip
    times = [event["timestamp"] for event in sample["events"]]
    assert times == sorted(times)


def test_a_dataset_of_hugging_face_is_public_unless_gold_is_asked_for(run: RunDir, tmp_path: Path) -> None:
    def columns(out: Path) -> dict[str, Any]:
        """Of the episode that was answered."""
        found = duckdb.execute(f"FROM '{out / 'data' / 'test.parquet'}' WHERE id = 'a/1'")
        [row] = found.fetchall()
        return dict(zip([each[0] for each in found.description], row, strict=True))

    done = export(run.path, "--hf", tmp_path / "d")
    assert "3 rows; none of 3 answers" in done.stdout
    public = columns(tmp_path / "d")
    assert (public["answer"], public["verdict"], public["input_tokens"]) == (
        "=Saab 云栖", "partially_correct", 90,
    )  # fmt: skip
    assert not {"image", "question", "top", "gold"} & set(public)
    assert "SECRET" not in (tmp_path / "d" / "README.md").read_text("utf-8") + str(public)
    export(run.path, "--hf", tmp_path / "shown", "--pictures")
    assert "question" in columns(tmp_path / "shown")
    assert "gold" not in columns(tmp_path / "shown")
    export(run.path, "--hf", tmp_path / "private", "--private")
    assert columns(tmp_path / "private")["gold"] == "SECRET-a/1"
    card = (tmp_path / "private" / "README.md").read_text("utf-8")
    assert "do not publish" in card
    assert '{"name": "image", "dtype": "image"}' in card
    assert {path.name for path in tmp_path.iterdir()} == {"run", "d", "shown", "private"}


def test_gold_in_a_dataset_is_refused(run: RunDir, tmp_path: Path) -> None:
    rows = [{**row, "question": "Is it the SECRET-b?"} for row in run.tasks()]
    jsonl.write_all(run.tasks_file, rows)
    done = export(run.path, "--hf", tmp_path / "d", "--pictures")
    first, *_, last = done.stderr.splitlines()
    assert first == "data/test.parquet:1: holds the answer of task b"
    assert last == "not exported: gold in 3 places"
    assert not (tmp_path / "d").exists()
    run.gold_file.unlink()
    assert "nothing can be proved" in refusal(run.path, "--hf", tmp_path / "d")
    assert {path.name for path in tmp_path.iterdir()} == {"run"}


def test_opentelemetry_spans(run: RunDir, tmp_path: Path) -> None:
    """An episode is a trace: the agent, its model and tool calls, inside of one its sub-agent."""
    assert "3 traces" in export(run.path, "--otel", tmp_path / "o.jsonl").stdout
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text("utf-8").splitlines()]
    spans = max(map(spans_of, rows), key=len)
    names = {span["spanId"]: span["name"] for span in spans}
    inside = [(span["name"], names.get(span.get("parentSpanId"))) for span in spans]
    assert inside == [
        ("invoke_agent react", None), ("invoke_agent react", "execute_tool task"),
        ("chat scripted", "invoke_agent react"), ("chat scripted", "invoke_agent react"),
        ("chat scripted", "invoke_agent react"),
        ("execute_tool crop_zoom", "invoke_agent react"), ("execute_tool task", "invoke_agent react"),
    ]  # fmt: skip
    root, sub, first, side, *_ = spans
    assert side["parentSpanId"] == sub["spanId"]
    assert values(first)["gen_ai.usage.input_tokens"] == "90"
    assert values(first)["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "tool_calls"}]}
    [question] = json.loads(values(first)["gen_ai.input.messages"])
    assert [part["type"] for part in question["parts"]] == ["text", "uri"]
    assert "gen_ai.usage.input_tokens" not in values(side)
    assert spans[-1]["status"] == {"code": 2, "message": "too slow"}
    assert values(spans[-1])["error.type"] == "timeout"
    assert values(root["events"][0])["gen_ai.evaluation.score.label"] == "partially_correct"
    assert len({span["traceId"] for row in rows for span in spans_of(row)}) == 3


def spans_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = row["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return found


def values(span: dict[str, Any]) -> dict[str, Any]:
    """Its attributes, without their types."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}
