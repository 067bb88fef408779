"""Looking from inside real containers: a blind controller and its eyes, the classifier, found pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import load_config
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")
KEYS = {"MODEL_KEY": "sk-CONTROLLER-0123456789", "SEER_KEY": "sk-SEER-0123456789"}


def results(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def asks_its_eyes(body: Body) -> Reply:
    """Ask the eyes and the classifier once, then answer what the eyes said."""
    said = results(body)
    if said:
        return Reply(calls=[Call("answer", {"text": said[0].splitlines()[1]})])
    box = {"x1": 0, "y1": 0, "x2": 500, "y2": 1000, "space": "norm1000"}
    eyes = Call("inspect_image", {"question": "Which colour is it?", **box}, "a")
    return Reply(calls=[eyes, Call("classify_image", {"limit": 3}, "b")])


def test_a_blind_controller_is_right_by_its_eyes(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    controller = ModelServer(asks_its_eyes, models=["controller"])
    seer = ModelServer([Reply("red")], models=["seer"])
    with controller, seer:
        done = fieldmark(
            "run", "--benchmark", tiny, "--limit", 1, "--out", "out", "--blind", "--model", "controller",
            "--base-url", controller.url, "--key-env", "MODEL_KEY", "--tools", "base,+classify_image",
            "--eyes", "seer", "--eyes-url", f"{seer.url}?token=SECRET", "--eyes-key-env", "SEER_KEY",
            env=KEYS,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "image_url" not in json.dumps(controller.requests)
    assert json.dumps(seer.requests).count("image_url") == 2  # its type and its key, of one picture
    assert set(controller.keys) == {f"Bearer {KEYS['MODEL_KEY']}"}
    assert set(seer.keys) == {f"Bearer {KEYS['SEER_KEY']}"}
    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    [verdict] = run.verdicts().values()
    assert (record.status, record.answer, verdict.label) == ("answered", "red", "correct")
    assert record.counts["model_calls"] == 2
    assert record.counts["eyes_calls"] == 1
    assert record.role_tokens["eyes"].input == 100
    trace: list[Any] = list(run.trace(record))
    roles = [event.role for event in trace if event.kind == "model_request"]
    assert roles == ["agent", "eyes", "agent"]
    [eyes] = [event for event in trace if event.kind == "model_request" and event.role == "eyes"]
    assert eyes.pictures[0].box == (0, 0, 200, 300)
    classes = next(
        e.data["classes"] for e in trace if e.kind == "tool_result" and "classes" in (e.data or {})
    )
    assert len(classes) == 3
    config = run.config()
    assert config["eyes"] | {"name": "seer", "base_url": seer.url} == config["eyes"]
    assert [*config["eyes"]["preflight"]] == ["image input", "several images"]
    assert {"inspect_image", "classify_image"} <= set(config["tools"])
    written = "".join(path.read_text(errors="replace") for path in run.path.rglob("*.json*"))
    assert not any(secret in written for secret in (*KEYS.values(), "SECRET"))


def test_a_found_picture_is_compared_inside(fieldmark: Fieldmark, tmp_path: Path) -> None:
    """Search, put the hit beside the task picture, answer; the sheet reaches a model that sees."""

    def compares(body: Body) -> Reply:
        said = results(body)
        if not said:
            return Reply(calls=[Call("reverse_image_search", {"limit": 1}, "a")])
        if len(said) == 1:
            hit = json.loads(said[0].rpartition("data: ")[2])["hits"][0]
            return Reply(calls=[Call("compare_images", {"other": hit["image"]}, "b")])
        return Reply(calls=[Call("answer", {"text": "Leuven"}, "c")])

    with ModelServer(compares) as server:
        done = fieldmark(
            "run", "--tasks", "mini-17", "--out", "out", "--model", "scripted", "--base-url", server.url
        )
    assert done.returncode == 0, done.stderr
    said = results(server.requests[-1])[-1]
    assert said.startswith("The same object or scene, verified:")
    assert json.dumps(server.requests[-1]["messages"]).count(";base64,") == 2
    offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert "compare_images" in offered
    assert offered.isdisjoint({"inspect_image", "classify_image"})  # no eyes; and this model has its own
    run = RunDir.open(tmp_path / "out")
    trace: list[Any] = list(run.trace(run.episodes()[0]))
    [sheet] = [picture for e in trace if e.kind == "tool_result" for picture in e.pictures]
    assert (sheet.width, sheet.of) == (1536, None)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--tools", "base,+inspect_image"], "tool inspect_image needs a vision model: name --eyes NAME"),
        (["--eyes", "builtin/scout"], "this model sees no pictures"),
        (["--eyes", "seer", "--eyes-url", "http://127.0.0.1:9/v1"], "start it or mend --eyes-url"),
        (["--eyes", "seer"], "model 'seer' needs --eyes-url"),
        (["--eyes", "seer", "--eyes-url", "seer.example"], "--eyes-url 'seer.example' is not an http://"),
    ],
)
def test_eyes_that_cannot_be_used_are_said_before_the_run(
    fieldmark: Fieldmark, flags: list[str], words: str
) -> None:
    done = fieldmark("run", *flags, env={"OPENAI_BASE_URL": ""})
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_eyes_by_name_alone_are_served_by_the_models_server() -> None:
    flags = {"model": "m", "base_url": "http://one/v1", "key_env": "ONE_KEY"}
    eyes = load_config(None, {**flags, "eyes": "seer"}).eyes
    assert eyes is not None
    assert (eyes.name, eyes.base_url, eyes.key_env) == ("seer", "http://one/v1", "ONE_KEY")
    elsewhere = load_config(None, {**flags, "eyes": "seer", "eyes_url": "http://two/v1"}).eyes
    assert elsewhere is not None
    assert (elsewhere.base_url, elsewhere.key_env) == ("http://two/v1", "OPENAI_API_KEY")


def test_eyes_stand_in_toml_as_a_name_or_a_table(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('model = { name = "m", base_url = "http://one/v1" }\neyes = "seer"\n')
    named = load_config(file, {}).eyes
    file.write_text('[eyes]\nname = "seer"\nbase_url = "http://two/v1"\nkey_env = "SEER_KEY"\n')
    table = load_config(file, {"eyes_url": "http://three/v1"}).eyes
    assert named is not None
    assert table is not None
    assert (named.base_url, table.base_url, table.key_env) == ("http://one/v1", "http://three/v1", "SEER_KEY")
