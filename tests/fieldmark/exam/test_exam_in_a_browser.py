"""An exam in real Chromium, its program killed in the middle of a question and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.evals.inspector.browser import visit_socket

WALK = """
import os, time
page = browser.new_page(viewport={"width": 1280, "height": 900})
errors = []
page.on("pageerror", lambda error: errors.append(str(error)))
page.goto(base)
shot(page, "begin-1280")
page.click("text=Open question 1")
page.locator("#picture").evaluate("image => image.decode()")
found["question"] = page.inner_text("h1")
box = page.locator("#viewer").bounding_box()
page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
page.mouse.wheel(0, -600)
page.mouse.down(); page.mouse.move(box["x"] + 40, box["y"] + 40, steps=4); page.mouse.up()
found["zoomed"] = page.locator("#picture").evaluate("image => image.style.transform")
found["tabs"] = len(page.context.pages)
page.fill("[name=answer]", "A first answer")
page.fill("[name=confidence]", "80")
page.fill("[name=sources]", "https://a.org/page")
shot(page, "question-1280")
page.click("text=Hand in")
page.set_viewport_size({"width": 390, "height": 844})
shot(page, "between-390")
page.click("text=Open question 2")
page.locator("#picture").evaluate("image => image.decode()")
page.fill("[name=answer]", "half an ans")
page.wait_for_selector("text=Your draft is kept.")
shot(page, "question-390")
open("/shots/typed", "w").close()
while not os.path.exists("/shots/again"): time.sleep(0.1)
page.locator("#kept").evaluate("told => { told.textContent = ''; }")
page.press("[name=answer]", "End")
page.type("[name=answer]", "wer")  # the page outlived the program
page.wait_for_selector("text=Your draft is kept.")
page.reload()
found["draft"] = page.input_value("[name=answer]")
page.click("text=Hand in")
page.click("text=Open question 3")
page.click("text=I do not know")
found["end"] = page.inner_text("h1")
shot(page, "end-390")
found["errors"] = errors
"""


@contextlib.contextmanager
def served(path: Path, port: int) -> Iterator[None]:
    """A unix socket at `path` that leads to the port of this machine, while it is there."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_read, to_write = await asyncio.open_connection("127.0.0.1", port)
        except OSError:  # the program is killed just now
            writer.close()
            return
        await asyncio.gather(_copy(reader, to_write), _copy(to_read, writer))

    async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.close()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(asyncio.start_unix_server(carry, path))
    path.chmod(0o666)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=20)


def started(*arguments: str) -> Popen[str]:
    process = spawn([FIELDMARK, "exam", *arguments])
    assert process.stdout
    assert process.stdout.readline().startswith("open http://127.0.0.1:")
    return process


def test_an_exam_is_answered_in_a_browser_through_a_kill(
    tmp_path: Path, fieldmark: Fieldmark, engine: Any, sandbox_image: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    out, shots = tmp_path / "ann", tmp_path / "browser" / "shots"
    first = started(
        "--tasks-per-exam", "3", "--seed", "1", "--person", "ann", "--out", str(out), "--port", str(port)
    )
    running = [first]

    def kill_and_start_again() -> None:
        deadline = time.monotonic() + 100
        while not (shots / "typed").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        running.append(started("--resume", str(out), "--port", str(port)))
        (shots / "again").touch()

    killer = threading.Thread(target=kill_and_start_again)
    killer.start()
    try:
        found = visit_socket(
            engine, sandbox_image, lambda path: served(path, port), tmp_path / "browser", WALK
        )
        refused = fieldmark("exam", "--resume", str(out), "--port", "0")
    finally:
        killer.join()
        running[-1].send_signal(signal.SIGINT)
        told, _ = running[-1].communicate(timeout=30)
    folder = RunDir(out)
    assert found["errors"] == []
    assert "scale(" in found["zoomed"]
    assert (found["draft"], found["end"], found["tabs"]) == ("half an answer", "The exam is complete", 1)
    assert (refused.returncode, "another fieldmark process" in refused.stderr) == (2, True)
    assert "3 of 3 done" in told
    assert {record.status for record in folder.episodes()} == {"answered"}
    said = [(record.answer, record.confidence) for record in folder.episodes()]
    assert said == [("A first answer", 0.8), ("half an answer", None), ("I do not know", None)]
    assert any(
        "not charged" in json.dumps(event.model_dump()) for event in folder.events(folder.episodes()[1])
    )
    assert fieldmark("judge", str(out)).returncode == 0
    assert "0/3" in fieldmark("report", str(out)).stdout
