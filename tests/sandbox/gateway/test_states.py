"""/memory/state: the files of an agent of others, from its container to the next one's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fieldmark.agents.external import state
from fieldmark.client import GatewayRefused
from fieldmark.memory.state import EpisodeState, name_of
from tests.sandbox.gateway.conftest import Enter, Inside

PLACES = ("home/.agent", "workspace/MEMORY.md", "workspace/absent")


def carry(inside: Inside, folder: Path, *, ours: tuple[Path, ...] = ()) -> state.Carried | None:
    """What the worker does before and after an agent, with these folders as home and workspace."""
    roots = {"home": folder / "home", "workspace": folder / "workspace"}
    for root in roots.values():
        root.mkdir(parents=True, exist_ok=True)
    carried = state.lay_out(inside.client, PLACES, roots)
    if carried:
        state.leave(inside.client, carried, ours)
    return carried


async def test_plain_files_of_text_are_carried_and_nothing_else(enter: Enter, tmp_path: Path) -> None:
    home, workspace = tmp_path / "one" / "home", tmp_path / "one" / "workspace"
    (home / ".agent" / "notes").mkdir(parents=True)
    workspace.mkdir()
    (home / ".agent" / "notes" / "a.md").write_text("dark corners\n")
    (home / ".agent" / "sessions.db").write_bytes(b"\0\xff")
    (home / ".agent" / "link").symlink_to("/etc/passwd")
    (home / ".agent" / "folder").symlink_to("/etc")
    (home / ".agent" / "config.json").write_text("ours")
    (home / "elsewhere.md").write_text("not carried")
    (workspace / "MEMORY.md").write_text("ünï")
    left = {"home/.agent/notes/a.md": "dark corners\n", "workspace/MEMORY.md": "ünï"}
    async with enter(state=EpisodeState(PLACES)) as inside:
        await asyncio.to_thread(carry, inside, tmp_path / "one", ours=(home / ".agent" / "config.json",))
        [event] = inside.events("memory_state")
        assert (event["by"], event["at"], event["files"]) == ("gateway", "end", 2)
        assert event["state"] == name_of(left)
        assert inside.blobs.get_text(event["state"]).startswith('{"home/.agent/notes/a.md":"dark')
        assert "1 file without text left out" in inside.events("log")[0]["message"]
    async with enter(state=EpisodeState(PLACES, left)) as inside:
        await asyncio.to_thread(carry, inside, tmp_path / "two")
        assert (tmp_path / "two" / "home" / ".agent" / "notes" / "a.md").read_text() == "dark corners\n"
        assert (tmp_path / "two" / "workspace" / "MEMORY.md").read_text() == "ünï"
        assert inside.events("memory_state")[-1]["state"] == name_of(left)


async def test_a_run_that_carries_nothing_says_so(enter: Enter, tmp_path: Path) -> None:
    async with enter() as inside:
        assert await asyncio.to_thread(carry, inside, tmp_path) is None
        with pytest.raises(GatewayRefused, match="carries no files"):
            await inside.ask("PUT", "/memory/state", {"files": {}})
        assert inside.events("memory_state") == []


async def test_a_frozen_state_is_read_and_not_written(enter: Enter, tmp_path: Path) -> None:
    async with enter(state=EpisodeState(PLACES, {"home/.agent/a": "1"}, writes=False)) as inside:
        await asyncio.to_thread(carry, inside, tmp_path)
        assert (tmp_path / "home" / ".agent" / "a").read_text() == "1"
        with pytest.raises(GatewayRefused, match="frozen"):
            await inside.ask("PUT", "/memory/state", {"files": {}})
        assert inside.events("memory_state") == []


@pytest.mark.parametrize(
    "body", [{"files": {"home/.bashrc": "x"}}, {"files": {"home/.agent/../../x": "y"}}, [], b"\xff", {}]
)
async def test_what_is_no_state_of_this_agent_is_refused(enter: Enter, body: object) -> None:
    async with enter(state=EpisodeState(PLACES)) as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.ask("PUT", "/memory/state", body)
        assert refused.value.status == 400
        assert inside.events("memory_state") == []


async def test_a_state_that_is_too_large_is_not_kept_and_the_episode_goes_on(
    enter: Enter, tmp_path: Path
) -> None:
    (tmp_path / "home" / ".agent").mkdir(parents=True)
    (tmp_path / "home" / ".agent" / "a").write_text("x" * 5 * 2**20)
    async with enter(state=EpisodeState(PLACES)) as inside:
        assert await asyncio.to_thread(carry, inside, tmp_path)
        assert any("its memory was not kept" in event["message"] for event in inside.events("log"))
        assert inside.events("memory_state") == []
