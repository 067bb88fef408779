"""What OpenCode and OpenClaw, really installed, carry from one episode to the next: what the run asks for.

Each agent plays three runs of two episodes; together they take about eight minutes on two cores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from fieldmark.memory.notes import read_notes
from fieldmark.memory.state import read_states
from tests.model_server import Body, Call, Reply
from tests.real_agents import playing
from tests.real_agents.conftest import AgentImage
from tests.real_agents.playing import Cases, Played

pytestmark = pytest.mark.timeout(1800)
ANSWER = Reply('{"answer": "red", "confidence": 0.9, "rationale": "seen"}')
BESIDE = (
    "echo MARK-x | tee /tmp/mark $HOME/mark /workspace/mark $HOME/.cache-mark >/dev/null; "
    "sleep 4711 >/dev/null 2>&1 & "
)
SEARCH = (
    "grep -rlaE 'MARK[-]' /workspace $HOME /tmp 2>/dev/null | sort; "
    "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 471[1]'; echo searched"
)
"""The patterns do not match themselves: an agent keeps its own commands on disk."""
SKILL = "---\\nname: mark-skill\\ndescription: MARK-skill tells edges.\\n---\\nLook twice.\\n"


@dataclass(frozen=True)
class Kept:
    """How an agent's shell and our tools are called, and where it keeps what it reads again by itself."""

    shell: str
    ours: str
    files: dict[str, str]

    def write(self) -> str:
        """A command that writes each file, and markers everywhere else."""
        lines = [
            f"mkdir -p $(dirname {path}); printf '%b' '{text}' > {path}; "
            for path, text in self.files.items()
        ]
        return "".join(lines) + BESIDE


KEPT = {
    "opencode": Kept(
        "bash",
        "fieldmark_",
        {
            "/home/agent/.config/opencode/AGENTS.md": "MARK-rules",
            "/home/agent/.config/opencode/skills/mark-skill/SKILL.md": SKILL,
            "/workspace/AGENTS.md": "MARK-project",
        },
    ),
    "openclaw": Kept(
        "exec",
        "fieldmark__",
        {
            "/workspace/AGENTS.md": "MARK-rules",
            "/workspace/MEMORY.md": "MARK-memory",
            "/workspace/SOUL.md": "MARK-soul",
            "/workspace/skills/mark-skill/SKILL.md": SKILL,
        },
    ),
}
Play = Callable[..., Played]


def cases(kept: Kept) -> Cases:
    """The first episode writes, the second looks."""

    def run(command: str) -> Reply:
        return Reply(calls=[Call(kept.shell, {"command": command, "description": "run it"})])

    def remember(body: Body) -> Reply:
        numbers = re.findall(r"\(result (\d+)\)", json.dumps(body["messages"]))
        note = {"text": "Edges are sharp.", "kind": "visual_cue", "cites": [int(numbers[-1])]}
        return Reply(calls=[Call(f"{kept.ours}remember", note)])

    crop = Reply(calls=[Call(f"{kept.ours}crop_zoom", {"x1": 0, "y1": 0, "x2": 50, "y2": 50})])
    return {
        "first": [run(kept.write()), ANSWER],
        "second": [run(SEARCH), ANSWER],
        "noting": [crop, remember, ANSWER],
        "reading": [Reply(calls=[Call(f"{kept.ours}recall", {"query": "edges"})]), ANSWER],
    }


@pytest.fixture(params=KEPT)
def agent(request: pytest.FixtureRequest, agent_image: AgentImage) -> str:
    agent_image(request.param)
    return str(request.param)


@pytest.fixture
def play(agent: str, engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """`play("first,second", …)`: two episodes, one after the other."""
    return lambda tasks, *flags: playing.play(
        agent, cases(KEPT[agent]), engine, tmp_path_factory.mktemp(agent), "--tasks", tasks,
        "--parallel", "1", "--time-limit", "600", *flags,
    )  # fmt: skip


def found(played: Played) -> list[str]:
    """What the second episode's search printed."""
    [result] = [row for row in played.asked["second"][-1]["messages"] if row["role"] == "tool"]
    text = result["content"] if isinstance(result["content"], str) else result["content"][0]["text"]
    return [line for line in text.split() if line.startswith("/") or line.isdigit() or line == "searched"]


def test_in_native_form_it_reads_again_what_it_wrote_and_nothing_else(agent: str, play: Play) -> None:
    files = KEPT[agent].files
    played = play("first,second", "--memory", "inherit", "--memory-form", "native")
    assert {record.status for record in played.records.values()} == {"answered"}
    seen = [line for line in found(played) if "sqlite" not in line]  # its own session, which quotes them
    assert seen == [*sorted(files), "0", "searched"]
    prompt = json.dumps(played.asked["second"][0])
    for mark in re.findall(r"MARK-\w+", " ".join(files.values())):
        assert mark in prompt
        assert mark not in json.dumps(played.asked["first"][0])
    assert [(row.id, row.files) for row in read_states(played.folder.memory_file)] == [("first", len(files))]


def test_without_a_memory_it_finds_nothing_of_an_earlier_episode(play: Play) -> None:
    played = play("first,second")
    assert found(played) == ["0", "searched"]
    assert "MARK-" not in json.dumps(played.asked["second"])
    assert not played.folder.memory_file.exists()


def test_in_store_form_it_notes_and_recalls_over_mcp(play: Play) -> None:
    played = play("noting,reading", "--memory", "inherit")
    assert [note.text for note in read_notes(played.folder.memory_file)] == ["Edges are sharp."]
    first, last = (json.dumps(played.asked["reading"][at]["messages"]) for at in (0, -1))
    assert "(visual_cue) Edges are sharp." in first
    assert "1. (visual_cue) Edges are sharp." in last
    assert {record.status for record in played.records.values()} == {"answered"}
