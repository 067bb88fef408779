"""What we export, read by the programs that it is for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import fieldmark
from fieldmark import jsonl
from fieldmark.exporting.atif import export_atif
from fieldmark.exporting.hugging_face import export_hugging_face
from fieldmark.exporting.inspect_log import export_inspect
from fieldmark.exporting.otel import export_otel
from fieldmark.exporting.tables import export_csv, export_parquet
from fieldmark.rundir import RunDir
from tests.fieldmark.exporting.recorded import recorded_run

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return recorded_run(tmp_path / "run")


def reads(python: Path, code: str, *arguments: object) -> Any:
    """What a script in their environment prints as JSON."""
    done = subprocess.run(
        [python, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_harbor_validates_every_trajectory(python: Path, run: RunDir, tmp_path: Path) -> None:
    export_atif(run, tmp_path / "a", private=False)
    code = """
import json, sys
from pathlib import Path
from harbor.models.trajectories import Trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator
told = []
for path in sorted(Path(sys.argv[1]).glob("*.json")):
    validator = TrajectoryValidator()
    fine = validator.validate(path)
    pictures = Trajectory.model_validate_json(path.read_text()).has_multimodal_content()
    told.append([fine, validator.errors, pictures])
print(json.dumps(told))
"""
    assert sorted(reads(python, code, tmp_path / "a"), reverse=True) == [
        [True, [], True], [True, [], False], [True, [], False],
    ]  # fmt: skip


def test_inspect_reads_the_log(python: Path, run: RunDir, tmp_path: Path) -> None:
    export_inspect(run, tmp_path / "i.eval", private=True)
    code = """
import json, sys
from inspect_ai.event import event_tree
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1], resolve_attachments=True)
sample = next(each for each in log.samples if each.id == "a/1")
print(json.dumps({
    "status": log.status, "task": log.eval.task,
    "accuracy": log.results.scores[0].metrics["strict_accuracy"].value,
    "roles": [message.role for message in sample.messages], "target": sample.target, "epoch": sample.epoch,
    "picture": sample.messages[1].content[1].image[:22], "score": sample.scores["fieldmark"].value,
    "calls": [[call.id, call.function] for call in sample.messages[2].tool_calls],
    "errors": [message.error.type for message in sample.messages if message.role == "tool" and message.error],
    "summaries": sorted(each.id for each in read_eval_log_sample_summaries(sys.argv[1])),
    "tree": [[part.id, part.type, [child.event if hasattr(child, "event") else child.id
                                   for child in part.children]]
             for part in event_tree(sample.events) if hasattr(part, "children")],
    "asked": [[message.role for message in event.input] for event in sample.events if event.event == "model"],
}))
"""
    assert reads(python, code, tmp_path / "i.eval") == {
        "status": "success", "task": "constructed", "accuracy": 0.0, "target": "SECRET-a/1", "epoch": 2,
        "roles": ["system", "user", "assistant", "tool", "tool", "user", "assistant"],
        "picture": "data:image/png;base64,", "score": "P", "errors": ["timeout"],
        "calls": [["x", "crop_zoom"], ["x-m1.1", "task"]], "summaries": ["a/1", "b", "c"],
        "tree": [["agent", "agent", ["model", "tool", "tool", "t2", "model"]]],
        "asked": [["system", "user"], ["system"],
                  ["system", "user", "assistant", "tool", "tool", "user"]],
    }  # fmt: skip


def test_inspects_own_commands_take_the_log(python: Path, run: RunDir, tmp_path: Path) -> None:
    """`inspect view bundle` makes the pages that `inspect view` serves."""
    log, site = tmp_path / "logs" / "i.eval", tmp_path / "site"
    export_inspect(run, log, private=False)

    def inspect(*words: object) -> str:
        command = [str(python.with_name("inspect")), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert len(json.loads(inspect("log", "dump", log))["samples"]) == 3
    inspect("view", "bundle", "--log-dir", log.parent, "--output-dir", site)
    assert (site / "index.html").exists()
    assert next(site.rglob("i.eval")).read_bytes() == log.read_bytes()


def test_pyarrow_and_pandas_read_the_tables(python: Path, run: RunDir, tmp_path: Path) -> None:
    export_parquet(fieldmark.load(run.path), tmp_path / "p", private=False)
    export_csv(fieldmark.load(run.path), tmp_path / "c", private=False)
    code = """
import json, sys
from pathlib import Path
import pandas, pyarrow.parquet
episodes = pyarrow.parquet.read_table(Path(sys.argv[1]) / "episodes.parquet")
kinds = {name: str(episodes.schema.field(name).type) for name in ("id", "epoch", "correct", "cost", "arm")}
calls = pandas.read_parquet(Path(sys.argv[1]) / "calls.parquet")
sheet = pandas.read_csv(Path(sys.argv[2]) / "episodes.csv")
answered = sheet[sheet["id"] == "a/1"].iloc[0]
print(json.dumps([kinds, len(calls), answered["answer"], float(answered["confidence"])]))
"""
    assert reads(python, code, tmp_path / "p", tmp_path / "c") == [
        {"id": "string", "epoch": "int64", "correct": "bool", "cost": "double", "arm": "string"},
        2, "'=Saab 云栖", 0.5,
    ]  # fmt: skip


def test_opentelemetrys_own_messages_take_every_line(python: Path, run: RunDir, tmp_path: Path) -> None:
    """OTLP's JSON is ProtoJSON but for its ids, which are hex there."""
    export_otel(run, tmp_path / "o.jsonl", private=False)
    code = """
import base64, json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
told = []
for line in open(sys.argv[1], encoding="utf-8"):
    request = json.loads(line)
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    read = json_format.ParseDict(request, ExportTraceServiceRequest())
    spans = read.resource_spans[0].scope_spans[0].spans
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    told.append([span.name for span in spans])
print(json.dumps(sorted(told, key=len)[-1]))
"""
    assert reads(python, code, tmp_path / "o.jsonl")[:2] == ["invoke_agent react"] * 2


def test_datasets_loads_the_folder_with_its_pictures(python: Path, run: RunDir, tmp_path: Path) -> None:
    red = next(run.blobs.glob("*.png"))
    picture = {"blob": red.stem, "media_type": "image/png", "width": 40, "height": 30}
    jsonl.write_all(run.tasks_file, [{**row, "view": picture} for row in run.tasks()])
    export_hugging_face(run, tmp_path / "d", pictures=False, private=True)
    code = """
import json, sys
import datasets
told = datasets.load_dataset(sys.argv[1], cache_dir=sys.argv[2])["test"]
row = next(each for each in told if each["id"] == "a/1")
print(json.dumps([len(told), type(told.features["image"]).__name__, row["image"].size, row["gold"],
                  row["aliases"], row["confidence"], told.features["epoch"].dtype]))
"""
    assert reads(python, code, tmp_path / "d", tmp_path / "cache") == [
        3, "Image", [40, 30], "SECRET-a/1", [], 0.5, "int64",
    ]  # fmt: skip
