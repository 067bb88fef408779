"""All of the user's own, by path, from an empty folder: what `fieldmark new` writes, run in containers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark import launch
from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig, load_config
from fieldmark.errors import UsageError
from fieldmark.preflight import make_plan
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark

JUDGE = """
def judge(question, gold, answer):
    return "correct" if answer and gold.answer in answer else "incorrect", f"looked for {gold.answer}"
"""

THREE_DOORS = """
import json, os, pathlib, subprocess
import anyio
from clues import opened
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

NEEDS = {"memory_mb": 1536}

async def over_mcp():
    async with Client(stdio_client(StdioServerParameters(command="fieldmark", args=["mcp"]))) as client:
        offered = [tool.name for tool in (await client.list_tools()).tools]
        return offered, (await client.call_tool("colours", {"most": 1})).content[0].text

def solve(prompt, tools):
    called = subprocess.run(["fieldmark", "tool", "colours", "--json", '{"most": 1}'], capture_output=True)
    offered, text = anyio.run(over_mcp)
    return {"answer": "HARBOUR 27", "rationale": json.dumps({
        "graph": tools["colours"](most=1).data,
        "command": json.loads(called.stdout)["data"],
        "mcp": [offered == tools.names, json.loads(text.partition("data: ")[2])],
        "seen": sorted(map(str, pathlib.Path("/opt").glob("own*/**/*"))),
        "written": opened(__file__, "a"), "picture": prompt.picture_bytes()[1:4].decode(),
    })}
"""

CLUES = """
def opened(path, mode):
    try:
        return bool(open(path, mode))
    except OSError as error:
        return error.strerror
"""


@pytest.fixture
def written(fieldmark: Fieldmark, tmp_path: Path) -> Path:
    """The folder, with all that `fieldmark new` writes."""
    for kind, name in (
        ("agent", "detective"),
        ("tool", "colours"),
        ("skill", "street-signs"),
        ("benchmark", "harbour"),
    ):
        done = fieldmark("new", kind, name)
        assert done.returncode == 0, done.stderr
        assert "fieldmark run --" in done.stdout
    (tmp_path / "lenient.py").write_text(JUDGE)
    return tmp_path


OWN = (
    "--benchmark", "harbour/tasks.jsonl", "--tool", "colours.py", "--skills", "all,./street-signs",
    "--judge", "./lenient.py",
)  # fmt: skip


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_what_new_writes_runs_and_is_held_to_on_resume(fieldmark: Fieldmark, written: Path) -> None:
    done = fieldmark("run", "--agent", "./detective.py", *OWN, "--out", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(written / "out")
    [record], [verdict] = run.episodes(), run.verdicts().values()
    assert (record.agent, record.status, record.answer) == ("detective", "answered", "HARBOUR 27")
    assert (verdict.judge, verdict.label) == ("lenient", "correct")
    config = run.config()
    assert {"colours", "ocr", "read_skill"} <= set(config["tools"])
    assert "answer" not in config["tools"]
    hashes = [config["agent_sha256"], config["judge_sha256"], config["own_tools"]["colours"]]
    assert [len(digest) for digest in hashes] == [64, 64, 64]
    assert "street-signs" in config["skills"]
    assert str(written) not in json.dumps(config)
    first: Any = next(event for event in run.trace(record) if event.kind == "model_request")
    assert "- street-signs: " in BlobStore(run.blobs).get_text(first.messages[0])

    for file, told in (
        ("detective.py", "the agent's file has changed since .*out began: start a new run"),
        ("colours.py", "the tool colours has changed since .*out began"),
        ("street-signs/SKILL.md", "the skill street-signs has changed since .*out began"),
        ("lenient.py", "the judge has changed since .*out began"),
    ):
        path = written / file
        before = path.read_text()
        path.write_text(f"{before}\n")
        with pytest.raises(UsageError, match=told):
            launch.resume_run(written / "out", {}, print)
        path.write_text(before)
    assert launch.resume_run(written / "out", {}, print).done == {("sign-1", 0)}


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_folder_and_a_tool_through_three_doors(fieldmark: Fieldmark, written: Path) -> None:
    """The container sees the files of the folder, and nothing that lies beside or is hidden in it."""
    folder = written / "agents" / "sherlock"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(THREE_DOORS)
    (folder / "agent.py").chmod(0o666)
    (folder / "clues.py").write_text(CLUES)
    (folder / ".env").write_text("KEY=1")
    (folder.parent / "tasks.jsonl").write_text("gold")
    done = fieldmark(
        "run", "--agent", "agents/sherlock", *OWN, "--tools", "none,+colours,+ocr", "--out", "out"
    )
    assert done.returncode == 0, done.stderr
    run = RunDir.open(written / "out")
    [record] = run.episodes()
    assert (record.agent, record.status) == ("sherlock", "answered"), record.error
    told: dict[str, Any] = json.loads(record.rationale or "")
    assert told["graph"]["colours"] == [{"colour": "#2e8b57", "share": told["graph"]["colours"][0]["share"]}]
    assert told["command"] == told["graph"] == told["mcp"][1]
    assert told["mcp"][0]
    assert told["seen"] == [
        "/opt/own-tools/colours.py",
        *(f"/opt/own/sherlock{name}" for name in ("", "/agent.py", "/clues.py")),
    ]
    assert told["written"] == "Read-only file system"
    assert told["picture"] == "PNG"
    doors = [event.model_dump()["door"] for event in run.trace(record) if event.kind == "tool_call"]
    assert sorted(doors) == ["command", "graph", "mcp"]
    assert run.config()["container"]["memory_mb"] == 1536


# --- what goes wrong, before a container is asked for ----------------------------------------------


@pytest.mark.parametrize(
    ("option", "file", "text", "told"),
    [
        ("--agent", "./a.py", "def solve(:", "--agent a.py:1: not Python: "),
        ("--agent", "./a.py", "x = 1", "makes no agent: define solve(prompt, tools), or a LangGraph `graph`"),
        ("--agent", "./a.py", "def solve(): ...", "a.py:1: write it as solve(prompt, tools)"),
        ("--agent", "./a.py", "def solve(p, *, tools): ...", "a.py:1: write it as solve(prompt, tools)"),
        ("--agent", "./none.py", None, "none.py is not there"),
        ("--agent", "./a.sh", "", "an agent is a folder, or a file that ends in .py or .toml"),
        (
            "--agent",
            "./f",
            {"agent.py": "def solve(p, t): ...", "d/gold.jsonl": ""},
            "holds d/gold.jsonl",
        ),
        ("--agent", "./react.py", "def solve(p, t): ...", "would be called react, as an agent of ours is"),
        ("--agent", "./f:1.py", "def solve(p, t): ...", "a path with a colon cannot be mounted"),
        ("--agent", "./f", {"a.py": ""}, "--agent f holds no agent.py"),
        ("--agent", "f", {"agent.py": ""}, "for the folder of that name write ./f"),
        ("--tool", "./t.py", "\nimport nowhere", "--tool t.py:2: ModuleNotFoundError"),
        ("--tool", "./t.py", "x = 1", "--tool t.py defines no TOOL"),
        ("--judge", "./j.py", "x = 1", "--judge j.py makes no judge"),
    ],
)
def test_bad_files_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, file: str, text: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (text if isinstance(text, dict) else {"": text}).items():
        path = tmp_path / file / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_text(content)
    given = [file] if option == "--tool" else file
    with pytest.raises(UsageError) as fault:
        make_plan(load_config(None, {option.removeprefix("--"): given}))
    assert told in str(fault.value)


def test_a_folder_that_holds_the_benchmark_of_the_run(tiny: Path) -> None:
    questions = tiny.rename(tiny.with_name("questions.jsonl"))
    (tiny.parent / "agent.py").write_text("def solve(prompt, tools): ...")
    with pytest.raises(UsageError, match="holds the benchmark"):
        make_plan(RunConfig(agent=str(tiny.parent), benchmark=str(questions)))


def test_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def solve(prompt, tools): ...")
    path.chmod(0o600)
    with pytest.raises(UsageError, match="can be read by its owner alone: `chmod a"):
        make_plan(RunConfig(agent=str(path)))


def test_own_tools_of_an_agent_that_uses_none(tmp_path: Path) -> None:
    path = tmp_path / "t.py"
    path.write_text('from fieldmark.tools.own import tool\n@tool\ndef f():\n    "Do."\n')
    with pytest.raises(UsageError, match="agent closed_book uses no tools: leave --tool out"):
        make_plan(RunConfig(agent="closed_book", tool=[path]))


def test_new_never_overwrites(fieldmark: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text("mine")
    (tmp_path / "my-skill").mkdir()
    for arguments, told in (
        (("agent",), "my_agent.py is there already and is left as it is"),
        (("skill",), "my-skill is there already"),
        (("tool", "ocr"), "ocr is a tool of fieldmark: choose another name"),
        (("tool", "My Tool"), "name 'My Tool': use a-z, 0-9 and _"),
        (("benchmark", "../up"), "name '../up': use"),
    ):
        done = fieldmark("new", *arguments)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "my_agent.py").read_text() == "mine"
