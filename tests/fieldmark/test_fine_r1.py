"""A run under `--protocol fine-r1`: what the model is asked, every variant of its score, what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from tests.conftest import Fieldmark
from tests.evals.benchmarks import fine_r1_data as made
from tests.model_server import ModelServer, Reply

FIXED = {"temperature": 0, "max_tokens": 2048}


def test_the_protocol_fixes_agent_decoding_and_judge() -> None:
    config = load_config(None, {"protocol": "fine-r1", "force": {"seed": 7}})
    assert (config.agent, config.judge.name) == ("closed_book", "fine-r1")
    assert config.model.force == {"seed": 7, **FIXED}
    variant = load_config(None, {"protocol": "fine-r1", "judge_variant": "card"})
    assert variant.judge.variant == "card"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"agent": "react"}, "--agent react"),
        ({"judge": "exact"}, "--judge exact"),
        ({"force": {"temperature": 1}}, "--force temperature 1"),
        ({"memory": "inherit"}, "--memory inherit"),
    ],
)
def test_an_option_that_says_otherwise_is_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=f"{word} contradicts --protocol fine-r1"):
        load_config(None, {"protocol": "fine-r1", **options})


def always_first(request: dict[str, Any]) -> Reply:
    """Echoes the first option of the question, in tags."""
    parts = request["messages"][-1]["content"]
    question = next(part["text"] for part in parts if part["type"] == "text")
    first = next(line[2:] for line in question.splitlines() if line.startswith("- "))
    return Reply(f"<think>This one.</think>\n<answer>{first}</answer>")


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_is_asked_in_tags_and_scored_in_every_variant(fieldmark: Fieldmark, tmp_path: Path) -> None:
    data = made.folder(tmp_path / "in", tmp_path / "disk")
    with ModelServer(always_first) as server:
        done = fieldmark(
            "run", "--benchmark", "fine-r1", "--data", data, "--image-root", tmp_path / "disk",
            "--protocol", "fine-r1", "--options", "shuffled", "--model", "scripted", "--base-url", server.url,
            "--no-probe", "--no-preflight", "--out", "out",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        asked = [body for body in server.requests if "messages" in body]
    assert len(asked) == 5  # one call each
    assert all(body[name] == value for body in asked for name, value in FIXED.items())
    assert all("tools" not in body and "<answer>" in body["messages"][0]["content"] for body in asked)

    run = json.loads((tmp_path / "out/run.json").read_text())
    assert run["protocol"]["fixes"]["reply"] == "tags"
    assert (run["config"]["options"], run["benchmark"]["data"]["seed"]) == ("shuffled", 0)
    assert run["judges"] == {"fine-r1": {"closed": "closed-strict", "open": "text-inclusion"}}
    assert str(tmp_path) not in (tmp_path / "out/run.json").read_text()

    judged = fieldmark("judge", "out", "--judge", "fine-r1", "--judge-variant", "closed-official")
    assert judged.returncode == 0, judged.stderr
    told = json.loads(fieldmark("report", "out", "--json").stdout)["runs"][0]
    rows = {(row["name"], row["split"]): row["macro"] for row in told["variants"]["rows"]}
    assert rows["always the first option", "both"] == rows["closed-strict", "both"]
    assert rows["closed-official", "both"] >= rows["closed-strict", "both"]
    assert told["run"]["judges"] == ["fine-r1/closed-official"]
    assert json.loads((tmp_path / "out/run.json").read_text())["config"]["judge"] == {
        "name": "fine-r1",
        "variant": "closed-official",
    }


def test_data_check_counts_beside_the_published_files(fieldmark: Fieldmark, tmp_path: Path) -> None:
    data = made.folder(tmp_path)
    done = fieldmark("data", "check", "--benchmark", "fine-r1", "--data", data)
    assert done.returncode == 0, done.stderr
    for line in ("2 of  4,028 published  flower_seen", "0 of  4,811 published  car_seen", "sound"):
        assert line in done.stdout
    assert "5 of 35,566 published  in all" in done.stdout
    assert "first option in 5 records, part of another one in 2" in done.stdout
    (tmp_path / "photos/2.png").rename(tmp_path / "photos/moonfern.png")
    lines = (tmp_path / "flower_seen.jsonl").read_text().replace("photos/2.png", "photos/moonfern_7.png")
    (tmp_path / "flower_seen.jsonl").write_text(lines)
    lost = fieldmark("data", "check", "--benchmark", "fine-r1", "--data", data)
    assert (lost.returncode, "moonfern" in lost.stdout) == (1, False)
    assert "WRONG  flower-seen-00001: its picture: No such file" in lost.stdout
