"""The packages of agents of others: what is locked is what the adapter names."""

from __future__ import annotations

import json

import pytest

from fieldmark.agents.registry import agent_names, get_agent
from fieldmark.needs import Kit
from fieldmark.sandbox.build_context import kit_files

KITS = {kit.name: kit for name in agent_names() if (kit := get_agent(name).needs.kit)}


@pytest.mark.parametrize("kit", [kit for kit in KITS.values() if kit.npm], ids=lambda kit: kit.name)
def test_the_lock_holds_the_named_versions(kit: Kit) -> None:
    lock = json.loads(kit_files(kit)["package-lock.json"])

    assert {f"{name}@{lock['packages'][f'node_modules/{name}']['version']}" for name in named(kit)} == set(
        kit.npm
    )


def test_a_program_that_keeps_what_its_first_start_made_is_started_in_the_build() -> None:
    assert {"package.json", "package-lock.json", "needs-node", "warm.py"} <= set(kit_files(KITS["openclaw"]))
    assert "warm.py" not in kit_files(KITS["opencode"])


def named(kit: Kit) -> list[str]:
    return [package.rpartition("@")[0] for package in kit.npm]
