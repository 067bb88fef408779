"""`fieldmark show`: one episode in the terminal, of constructed runs and one that the gateway recorded."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fieldmark import jsonl
from fieldmark.commands.show import command
from fieldmark.errors import UsageError
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.frames import load
from fieldmark.findings import Failure, FailureReason
from fieldmark.records import Verdict
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.wire.chat import NAME as CHAT
from fieldmark.sandbox.gateway.wire.common import compact
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import fields, without_pictures
from fieldmark.showing.visible import visible
from tests.evals.conftest import EpisodeBuilder, RunBuilder

PICTURE = {"blob": "ab" * 32, "media_type": "image/png", "width": 640, "height": 480}
EVIL = "\x1b[2Jclear\x07 \u202eevil\u2066 \x9b31m 云栖\u3000钟楼"


@pytest.fixture
def builder(tmp_path: Path) -> RunBuilder:
    builder = RunBuilder(tmp_path / "run", config={"model": {"base_url": None, "key_env": "LAB_KEY"}})
    return builder.task("plane-1").task("plane-22").task("boat")


def start(episode: EpisodeBuilder) -> EpisodeBuilder:
    return episode.event(
        "runner", "episode_start", version="0", run="run", id="plane-1", epoch=0, attempt=0, agent="react",
        model="scripted", image=PICTURE, view=PICTURE, prompt_sha256="0", limits={"seconds": 240},
    )  # fmt: skip


def show(folder: RunDir, *arguments: object) -> Result:
    call = [str(folder.path), *map(str, arguments)]
    return CliRunner().invoke(command, call, catch_exceptions=False)


def refusal(folder: RunDir, *arguments: object) -> str:
    with pytest.raises(UsageError) as caught:
        show(folder, *arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_header_and_timeline(builder: RunBuilder) -> None:
    episode = start(builder.episode("plane-1", verdict="incorrect"))
    episode.step(("ocr", "ok"), ("web_search", "failed")).event(
        "sandbox", "tool_result", call="c9", ok=True, seconds=0.2, text="Shown.",
        pictures=[{**PICTURE, "of": "ab" * 32, "box": [10.4, 20, 110, 220.6], "scale": 4.0}],
        regions=[{"of": "ab" * 32, "box": [1, 2, 3, 4], "label": "D-AIBL", "score": 0.91}],
    )  # fmt: skip
    text = show(builder.finish(), "plane-1").stdout
    head = dict(line.split(None, 1) for line in text.split("\n\n")[0].splitlines())
    assert head["picture"].startswith("640×480 image/png · abab")
    assert head["answer"] == "Saab 340"
    assert head["verdict"] == "incorrect (0) by exact · SECRET-reason"
    assert head["gold"] == "SECRET-plane-1"
    assert "web_search ✗ 0.10 s · runtime" in text
    assert "· box [10, 20, 110, 221] of the original · scale 4" in text
    assert "box [1, 2, 3, 4] D-AIBL · 0.91" in text
    part = show(builder.folder, "plane-1", "--from", 3, "--to", 5).stdout
    assert [line.split()[0] for line in part.split("\n\n")[1].splitlines() if line[5].isdigit()] == [
        "3",
        "4",
        "5",
    ]


def test_no_gold_where_it_is_not_wanted_or_not_here(builder: RunBuilder) -> None:
    builder.episode("plane-1", verdict="incorrect")
    folder = builder.finish()
    for arguments in (("--no-private",), ("--no-private", "--json")):
        assert "SECRET" not in show(folder, "plane-1", *arguments).stdout
    assert (
        json.loads(show(folder, "plane-1", "--json").stdout)["private"]["gold"]["answer"] == "SECRET-plane-1"
    )
    for path in folder.private.iterdir():
        path.unlink()
    assert "private" not in json.loads(show(folder, "plane-1", "--json").stdout)


def test_a_task_by_its_beginning_its_trace_and_its_epoch(builder: RunBuilder) -> None:
    for task, epoch in (("plane-1", 0), ("plane-1", 2), ("plane-22", 0)):
        builder.episode(task, epoch=epoch)
    folder = builder.finish()

    def found(*arguments: object) -> tuple[str, int]:
        episode = json.loads(show(folder, *arguments, "--json").stdout)["episode"]
        return episode["id"], episode["epoch"]

    assert found("plane-1") == ("plane-1", 0)
    assert found("plane-2") == ("plane-22", 0)
    assert found("plane-1", "--epoch", 2) == ("plane-1", 2)
    assert found(folder.episodes()[1].trace.removesuffix(".jsonl")) == ("plane-1", 2)
    assert "begins 2 tasks: plane-1, plane-22" in refusal(folder, "plane-")
    assert "near: plane-1" in refusal(folder, "plan-1")
    assert "task boat has no episode yet" in refusal(folder, "boat")
    assert "no episode in epoch 1: it has 0, 2" in refusal(folder, "plane-1", "--epoch", 1)
    assert "no event 99" in refusal(folder, "plane-1", "--event", 99)
    assert "--curl: say which model call" in refusal(folder, "plane-1", "--curl")


def test_hostile_text_is_shown_and_does_nothing(builder: RunBuilder) -> None:
    """Case 10-06, on a terminal."""
    episode = start(builder.episode("plane-1")).answer(EVIL)
    episode.event("sandbox", "tool_call", call="c1", name=EVIL, arguments={"a": EVIL}, door="graph")
    episode.event("sandbox", "tool_result", call="c1", ok=False, seconds=1, error=EVIL, text=EVIL * 3)
    episode.event("gateway", "unheard_of", what=EVIL)
    folder = builder.finish()
    for arguments in ((), ("--event", 4), ("--event", 5)):
        text = show(folder, "plane-1", *arguments).stdout
        assert text.replace("\n", "").isprintable()
    text = show(folder, "plane-1").stdout
    assert r"\x1b[2Jclear\x07 \u202eevil\u2066 \x9b31m 云栖 钟楼" in text
    assert "unheard_of" in text


def test_visible_keeps_what_can_be_seen() -> None:
    assert visible("é 中文\tx\ny") == "é 中文    x\ny"
    assert visible("\r\ufeff\U000e0001") == r"\x0d\ufeff\U000e0001"


def test_the_request_of_a_model_call_to_the_byte(
    builder: RunBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"model": "m", "temperature": 0.5, "messages": [{"role": "user", "content": "Was ist das? 这是"}]}
    asked = compact(body)
    apart = without_pictures(asked)
    parts = fields(format_named(CHAT), asked, apart, body, builder.folder.blob_store().put_text)
    episode = builder.episode("plane-1")
    episode.request("m7").events[-1].update(parts, sent={"model": "served"})
    episode.response("m7", [])
    folder = builder.finish()
    seq = episode.events[-2]["seq"]
    told: dict[str, Any] = json.loads(show(folder, "plane-1", "--event", seq, "--json").stdout)
    assert told["request"] == asked
    assert "Was ist das? 这是" in show(folder, "plane-1", "--event", seq + 1).stdout
    monkeypatch.chdir(tmp_path)
    curl = show(folder, "plane-1", "--event", seq, "--curl")
    words = shlex.split(curl.stdout.replace("\\\n", ""))
    assert words[:2] == ["curl", "http://localhost:8000/v1/chat/completions"]
    assert "Authorization: Bearer $LAB_KEY" in words
    assert Path(words[-1].removeprefix("@")).read_bytes() == asked.encode()
    assert "sent these otherwise: model" in curl.stderr
    assert "is model_request" not in curl.stderr
    Path(words[-1].removeprefix("@")).write_text("mine")
    assert "is there already" in refusal(folder, "plane-1", "--event", seq, "--curl")


@pytest.mark.parametrize("said", ['X"; touch OWNED; echo "', "$(touch OWNED)", "A B", "-o/etc/passwd"])
def test_what_a_strangers_run_says_of_its_server_does_nothing_in_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    config = {"model": {"base_url": said, "key_env": said}}
    builder = RunBuilder(tmp_path / "run", config=config).task("plane-1")
    asked = compact({"model": "m", "messages": []})
    parts = fields(
        format_named(CHAT), asked, without_pictures(asked), {"model": "m", "messages": []},
        builder.folder.blob_store().put_text,
    )  # fmt: skip
    episode = builder.episode("plane-1")
    episode.request("m7").events[-1].update(parts)
    folder = builder.finish()
    monkeypatch.chdir(tmp_path)
    told = show(folder, "plane-1", "--event", episode.events[-1]["seq"], "--curl")
    assert said not in told.stdout
    assert "curl http://localhost:8000/v1/chat/completions" in told.stdout
    assert "Bearer $OPENAI_API_KEY" in told.stdout
    assert "names no server" in told.stderr


def test_ten_thousand_events_take_no_time(builder: RunBuilder) -> None:
    """Case 10-08, on a terminal."""
    episode = builder.episode("plane-1")
    for number in range(5_000):
        episode.event(
            "sandbox", "tool_call", call=f"c{number}", name="ocr", arguments={"n": number}, door="graph"
        )
        episode.event("sandbox", "tool_result", call=f"c{number}", ok=True, seconds=0.1, text="word " * 200)
    folder = builder.finish()
    began = time.monotonic()
    assert len(show(folder, "plane-1").stdout.splitlines()) > 20_000
    assert time.monotonic() - began < 5


def test_a_class_of_an_earlier_verdict_is_no_longer_told(builder: RunBuilder) -> None:
    """`show`, `load` and `view` tell the same: those that still hold."""
    start(builder.episode("plane-1", verdict="incorrect"))
    folder = builder.finish()
    row = Failure(
        id="plane-1", taxonomy=VERSION, outcome="incorrect", label="no_acquisition", stage="facts",
        classifier="facts", events=[0],
    )  # fmt: skip
    why = FailureReason(id="plane-1", classifier="facts", reason="", events=[2])
    jsonl.append(folder.failure_reasons_file, why.model_dump(mode="json"))
    jsonl.append(folder.failures_file, row.model_dump(mode="json"))
    told = show(folder, "plane-1").stdout
    assert "no_acquisition · by facts, events 0, 2" in told
    public = show(folder, "plane-1", "--no-private").stdout
    for text, events in ((told, ["0", "2"]), (public, ["0"])):
        marked = [line.split()[0] for line in text.splitlines() if line.endswith("· shows the failure")]
        assert marked == events
    assert list(load(folder.path).failures.label) == ["no_acquisition"]
    folder.add_verdict(Verdict(id="plane-1", label="correct", score=1, judge="exact"))
    assert "no_acquisition" not in show(folder, "plane-1").stdout
    assert load(folder.path).failures.empty
