"""A run as a gateway leaves it: blobs of messages and pictures, two steps, a sub-agent, odd endings."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

from fieldmark.rundir import RunDir
from tests.evals.conftest import RunBuilder


def picture(run: RunDir, color: str) -> dict[str, object]:
    """A stored picture, as events name it."""
    file = run.path.parent / f"{color}.png"
    Image.new("RGB", (40, 30), color).save(file)
    blob = run.blob_store().put(file.read_bytes(), "image/png")
    file.unlink()
    return {"blob": blob, "media_type": "image/png", "width": 40, "height": 30}


def recorded_run(path: Path) -> RunDir:
    """Tasks `a/1` (answered with a formula), `b` (timed out before the model spoke), `c` (our fault)."""
    builder = RunBuilder(path, epochs=2, web={"mode": "offline", "guard": ["SECRET.example"]})
    blobs = builder.folder.blob_store()
    view, crop = picture(builder.folder, "red"), picture(builder.folder, "blue")
    asked = [
        {"type": "text", "text": "Which plane?"},
        {"type": "image_url", "image_url": {"url": f"blob:{view['blob']}"}},
    ]
    told = [
        blobs.put_text(json.dumps(message))
        for message in (
            {"role": "system", "content": "You identify."},
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "I zoom."},
            {"role": "tool", "tool_call_id": "x", "content": "Shown."},
            {"role": "user", "content": "Go on."},
        )
    ]
    tools = blobs.put_text(json.dumps([{"type": "function", "function": {"name": "crop_zoom"}}]))

    for task in ("a/1", "b", "c"):
        builder.task(task)
    episode = builder.episode("a/1", verdict="partially_correct", epoch=1).answer("=Saab 云栖")
    episode.events.clear()

    def ask(call: str, messages: list[str], **fields: object) -> None:
        episode.request(call).events[-1].update(
            messages=messages, pictures=[view], tools_blob=tools, thread="t1", **fields
        )

    ask("m1", told[:2])
    episode.response("m1", [("x", "crop_zoom"), ("x", "task")])
    episode.events[-1].update(
        text="I zoom.",
        reasoning="Small.",
        tokens={"input": 90, "output": 7, "cached": 40},
        finish="tool_calls",
    )
    episode.event(
        "sandbox", "tool_call", call="c1", name="crop_zoom", door="graph", action="crop_zoom", tap="m1.0",
        arguments={},
    ).event(
        "sandbox", "tool_result", call="c1", ok=True, seconds=0.2, text="Shown.",
        pictures=[{**crop, "of": view["blob"], "box": [1, 2, 30, 20]}],
    )  # fmt: skip
    episode.event(
        "gateway", "tool_call", call="m1.1", name="task", door="native", tap="m1.1", side="subagent"
    )
    ask("s1", told[:1], parent_thread="t1", parent_call="m1.1")
    episode.events[-1]["thread"] = "t2"
    episode.response("s1", []).events[-1]["text"] = "A Saab."
    episode.event(
        "gateway", "tool_result", call="m1.1", ok=False, seconds=1, error_kind="timeout", error="too slow"
    )
    ask("m2", told)
    episode.response("m2", []).events[-1].update(text="It is a Saab.", finish="stop")
    episode.record.update(confidence=0.5, cost=0.01, tokens={"input": 90, "output": 7, "cached": 40})
    builder.episode("b", status="timeout").events.clear()
    builder.episode("c", status="sandbox_error").record["error"] = {
        "boundary": "sandbox", "kind": "oom", "message": "no memory"
    }  # fmt: skip
    return builder.finish()
