"""docs/inspect-a-failure.md says what is: commands, addresses, pictures. The README leads to it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from starlette.testclient import TestClient

from fieldmark.cli import cli
from fieldmark.rundir import episode_key

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "inspect-a-failure.md"
TEXT = PAGE.read_text("utf-8")
COMMANDS = re.findall(r"^\.venv/bin/fieldmark (.+?)(?:\s+#.*)?$", TEXT, re.M)
ADDRESSES = re.findall(r"/run/planes/[^)`]*", TEXT)
MOST = 150_000
"""Bytes of a picture."""


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_and_option_is_there(line: str) -> None:
    name, *arguments = shlex.split(line)
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    command.make_context(name, arguments)  # an unknown option or a missing argument is refused


def test_every_address_leads_somewhere(client: TestClient) -> None:
    key = episode_key("wrong")
    for address in ADDRESSES:
        form = re.sub(r"/episode/[^/#]+", f"/episode/{key}", address)
        here = re.sub(r"/event/\d+", "/event/3", form.replace("/planes/", "/aircraft/"))
        assert client.get(here).status_code == 200, address
    assert client.get(f"/run/aircraft/episode/{key}/event/3/request").status_code == 200
    assert len(ADDRESSES) >= 3


def test_what_it_shows_is_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", TEXT)
    assert {f"pictures/{path.name}" for path in (ROOT / "docs" / "pictures").iterdir()} == set(pictures)
    assert all((PAGE.parent / name).stat().st_size < MOST for name in pictures)
    links = re.findall(r"\]\(([a-z-]+\.md)\)", TEXT)
    assert links
    assert all((PAGE.parent / name).exists() for name in links)


def test_the_first_screen_of_the_readme_leads_to_it() -> None:
    first = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    assert "(docs/inspect-a-failure.md)" in first
