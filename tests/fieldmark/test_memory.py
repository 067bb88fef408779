"""Memory across episodes in real containers: by every door, after kill -9, and none where none is asked."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from fieldmark.memory.history import before, history
from fieldmark.memory.notes import read_notes
from fieldmark.rundir import RunDir
from fieldmark.trace import MemoryRead
from tests.conftest import FIELDMARK, Fieldmark, spawn

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")

NOTER = """
import json, subprocess
import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def over_mcp(name, arguments):
    async with Client(stdio_client(StdioServerParameters(command="fieldmark", args=["mcp"]))) as client:
        return (await client.call_tool(name, arguments)).content[0].text

def command(name, arguments):
    called = subprocess.run(["fieldmark", "tool", name, "--json", json.dumps(arguments)], capture_output=True)
    return json.loads(called.stdout)["text"]

def number(text):
    return int(text.rpartition("(result ")[2].partition(")")[0])

def solve(prompt, tools):
    box = {"x1": 100, "y1": 100, "x2": 140, "y2": 140}
    cited = number(tools["crop_zoom"](**box).text)
    found = tools["recall"](query="graph note").text
    had = len(prompt.notes)
    tools["remember"](text=f"Graph note after {had} notes.", kind="visual_cue", cites=[cited])
    tools["remember"](text="It is white colour.", kind="family", cites=[cited])
    told = ""
    if not had:  # the other doors take a while to open
        shell = number(command("crop_zoom", box))
        command("remember", {"text": "Never mind the corner.", "kind": "family", "cites": [shell]})
        told = anyio.run(over_mcp, "remember", {"text": "made up", "kind": "family", "cites": [99]})
    return {"answer": "red", "rationale": json.dumps([prompt.notes, found, told])}
"""

BELIEVER = """
def solve(prompt, tools):
    return {"answer": "dotted" if any("dotted" in note for note in prompt.notes) else "red"}
"""

MARKER = """
import json, os, pathlib, subprocess
from fieldmark.client import GatewayClient, GatewayRefused

FOLDERS = ("/tmp", "/workspace", pathlib.Path.home(), "/dev/shm")
PLACES = [pathlib.Path(folder) / "marker-4711" for folder in FOLDERS]
KEPT = []  # by the process

def solve(prompt, tools):
    seen = [*KEPT, *os.environ.get("MARKER", "").split()]
    KEPT.append("the process lives on")
    os.environ["MARKER"] = "marker-4711"
    pages = [tools["browser"](action="open", url="http://keeper.example/").text for _ in range(2)]
    seen += [str(place) for place in PLACES if place.exists()]
    seen += [p.name for p in pathlib.Path("/proc").glob("[0-9]*") if b"sleep 4711" in read(p / "cmdline")]
    for place in PLACES:
        try:
            place.write_text("marker-4711")
        except OSError:
            pass
    subprocess.Popen(["sleep", "4711"])
    try:
        GatewayClient().post("/memory/remember", {"text": "marker-4711", "kind": "family", "cites": [1]})
        seen.append("a note was taken")
    except GatewayRefused as error:
        refused = str(error)
    told = [seen, pages, prompt.notes, refused, tools.names]
    return {"answer": "red", "rationale": json.dumps(told)}

def read(path):
    try:
        return path.read_bytes().replace(b"\\0", b" ")
    except OSError:
        return b""
"""


KEEPER = """<title>Keeper</title><p id=said></p><script>
said.textContent = "storage " + localStorage.mark + ", cookie " + (document.cookie || "undefined");
localStorage.mark = "marker"; document.cookie = "mark=marker";
</script>"""


def rationales(run: RunDir) -> list[list[object]]:
    return [json.loads(record.rationale or "null") for record in run.episodes()]


def test_notes_pass_through_every_door_and_survive_kill_9(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    agent = tmp_path / "noter.py"
    agent.write_text(NOTER)
    command = [
        FIELDMARK, "run", "--benchmark", str(tiny), "--agent", str(agent), "--memory", "inherit",
        "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    episodes = tmp_path / "out" / "episodes.jsonl"
    process = spawn(command, start_new_session=True)
    try:
        deadline = time.monotonic() + 200
        while not episodes.exists() or episodes.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    done = fieldmark("run", "--resume", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    notes = read_notes(run.memory_file)
    assert [(note.id, note.text) for note in notes] == [
        ("square-red", "Graph note after 0 notes."),
        ("square-red", "Never mind the corner."),
        ("square-green", "Graph note after 2 notes."),
        ("square-blue", "Graph note after 3 notes."),
        ("square-white", "Graph note after 4 notes."),
    ]
    told = rationales(run)
    assert told[0][0] == []
    assert "No note of an earlier episode" in str(told[0][1])
    assert "cites: 99 is no result of a tool in this episode" in str(told[0][2])
    assert "1. (visual_cue) Graph note after" in str(told[1][1])
    assert history(run).withheld == 4  # though each was told that it is noted
    for at, record in enumerate(run.episodes()):
        reads = [event for event in run.trace(record) if isinstance(event, MemoryRead)]
        assert [event.at for event in reads] == ["lease", "recall"]
        assert len(before(run, record.id)) == (at and at + 1)
    shown = fieldmark("memory", "out", "--note", notes[0].note)
    assert shown.stdout.count("\n    read by square-") == 3
    assert "answered 'red', incorrect" in shown.stdout
    planted = {**notes[0].model_dump(), "note": "false", "text": "Every square is dotted."}
    with run.memory_file.open("a") as file:
        file.write(json.dumps(planted) + "\n")
    (tmp_path / "believer.py").write_text(BELIEVER)
    done = fieldmark(
        "run", "--benchmark", tiny, "--memory", "frozen:out", "--out", "again", "--tasks", "square-blue",
        "--agent", "./believer.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = fieldmark("memory", "again", "--note", "false", "--json")
    told_of = json.loads(shown.stdout)["notes"][0]["read_by"]
    assert [(reader["id"], reader["at"]) for reader in told_of] == [("square-blue", ["lease"])]
    shown = fieldmark("memory", "out", "--note", "false", "--in", ".")
    assert "read by square-blue (lease, " in shown.stdout
    assert (
        "answered 'dotted', incorrect  [in again]\ntouched: 1 answers (1 at hand 1), 0 correct"
        in shown.stdout
    )
    rows = json.loads(fieldmark("report", "again", "--json").stdout)["runs"][0]["memory"]["rows"]
    assert [row["episodes"]["count"] for row in rows] == [0, 1, 1]
    shown = fieldmark("memory", "out", "--note", notes[0].note, "--in", ".")
    assert "touched: 4 answers (4 at hand 1), 0 correct" in shown.stdout
    assert shown.stdout.count("\ncarried on by ") == 3


def test_without_memory_nothing_of_an_episode_is_seen_by_the_next(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "marker.py").write_text(MARKER)
    (tmp_path / "site" / "keeper.example").mkdir(parents=True)
    (tmp_path / "site" / "keeper.example" / "index.html").write_text(KEEPER)
    done = fieldmark(
        "run", "--benchmark", tiny, "--agent", "./marker.py", "--out", "out", "--parallel", 1, "--limit", 2,
        "--site", "site",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    for seen, pages, notes, refused, tools in rationales(run):
        assert "storage undefined, cookie undefined" in pages[0]  # type: ignore[index]
        assert "storage marker, cookie mark=marker" in pages[1]  # type: ignore[index]
        assert (seen, notes, refused) == ([], [], "this run has no memory")
        assert not {"recall", "remember"} & set(tools)  # type: ignore[call-overload]
    assert len(run.episodes()) == 2
    assert not run.memory_file.exists()
