"""A run of real containers, shown and exported: the request to the byte, the picture in every export."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from fieldmark.commands.export import command as export
from fieldmark.commands.show import command as show
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

KEY = "sk-SECRET-0123456789"


def zooms_then_answers(body: Body) -> Reply:
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})])
    return Reply("I look.", calls=[Call("crop_zoom", {"x1": 10, "y1": 10, "x2": 100, "y2": 90})])


def said(command: click.Command, *arguments: object) -> str:
    """What a command prints."""
    call = [str(each) for each in arguments]
    return CliRunner().invoke(command, call, catch_exceptions=False).stdout


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_is_shown_and_exported(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(zooms_then_answers) as server:
        done = fieldmark(
            "run", "--benchmark", tiny, "--limit", 1, "--agent", "react", "--model", "scripted",
            "--base-url", server.url, "--key-env", "LAB_KEY", "--out", "out", env={"LAB_KEY": KEY},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [task] = [json.loads(line)["id"] for line in (tmp_path / "out" / "tasks.jsonl").read_text().splitlines()]
    monkeypatch.chdir(tmp_path)
    shown = said(show, "out", task)
    assert "box [10, 10, 100, 90] of the original" in shown
    events = json.loads(said(show, "out", task, "--json"))["events"]
    asked = [event["seq"] for event in events if event["kind"] == "model_request"]
    curl = said(show, "out", task, "--event", asked[-1], "--curl")
    assert f"curl {server.url}/chat/completions" in curl
    assert "$LAB_KEY" in curl
    data = Path(curl.rpartition("@")[2].strip())
    assert data.read_bytes() == server.raw[-1]
    assert b"image/png;base64" in data.read_bytes()

    said(export, "out", "--atif", "atif")
    said(export, "out", "--inspect", "out.eval")
    trajectory: dict[str, Any] = json.loads(next((tmp_path / "atif").glob("*.json")).read_text())
    assert [step["source"] for step in trajectory["steps"][:3]] == ["system", "user", "agent"]
    [zoomed] = trajectory["steps"][2]["observation"]["results"]
    assert zoomed["content"][1]["type"] == "image"
    assert trajectory["steps"][1]["message"][1]["type"] == "image"
    with zipfile.ZipFile(tmp_path / "out.eval") as archive:
        sample = json.loads(archive.read(f"samples/{task}_epoch_1.json"))
    assert sample["scores"]["fieldmark"]["value"] == "C"
    assert len(sample["attachments"]) == 2
    assert KEY not in shown + curl + json.dumps(trajectory) + json.dumps(sample)
