"""Which engine reads is a setting of the run: recorded, refused where the image lacks it, used inside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from fieldmark.sandbox import build_context, engine, image
from fieldmark.sandbox.build_context import Variant
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply


def has_rapidocr() -> bool:
    client = engine.connect()
    try:
        return image.state(client, Variant("rapidocr")) == "ready"
    finally:
        client.close()


def reads_then_answers(body: Body) -> Reply:
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})])
    return Reply(calls=[Call("ocr", {})])


@pytest.mark.parametrize("chosen", ["tesseract", "rapidocr"])
@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_the_engine_of_the_run_reads_inside(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, chosen: str
) -> None:
    if chosen == "rapidocr" and not has_rapidocr():
        pytest.skip("needs `fieldmark sandbox build --with rapidocr`")
    with ModelServer(reads_then_answers) as server:
        done = fieldmark(
            "run", "--benchmark", tiny, "--model", "scripted", "--base-url", server.url,
            "--ocr", chosen, "--limit", 1, "--out", "out",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert run.config()["ocr"] == chosen
    results: list[Any] = [event for event in run.trace(run.episodes()[0]) if event.kind == "tool_result"]
    assert results[0].data == {"found": False, "engine": chosen, "lines": [], "registrations": []}


def test_without_its_image_a_run_is_refused_in_one_line(fieldmark: Fieldmark, tiny: Path) -> None:
    if has_rapidocr():
        pytest.skip("the image with RapidOCR is here")
    done = fieldmark("run", "--benchmark", tiny, "--ocr", "rapidocr", "--out", "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "run `fieldmark sandbox build --with rapidocr`" in done.stderr


def test_the_image_with_rapidocr_is_another_image() -> None:
    assert image.tag(Variant("rapidocr")) != image.tag()
    assert image.runtime_tag("rapidocr") != image.runtime_tag()


def test_its_lock_adds_to_the_image_s_and_brings_no_second_cv2() -> None:
    locks = [path.read_text() for path in build_context.locks("rapidocr")]
    usual, added = (set(re.findall(r"^([a-z0-9-]+)==", text, re.M)) for text in locks)
    assert {"rapidocr", "onnxruntime"} <= added
    assert not usual & added
    assert [name for name in usual | added if "opencv" in name] == ["opencv-python"]
