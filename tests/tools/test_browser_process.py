"""One browser for all doors of a container; it is started once, and again when it has died."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.browsing import BrowserEpisode, browser_episode, page

PAGES: dict[str, Any] = {
    "/": page('<p>Quiet</p><button onclick="while (true) {}">Hang</button>'),
    "/hangs": page("<p>x</p><script>setTimeout(() => { while (true) {} }, 50)</script>"),
    "/eats": page(
        "<p>x</p><script>const all = []; setInterval(() => { for (let i = 0; i < 8; i++) "
        "all.push(new Uint8Array(2e7).fill(1)) }, 50)</script>"
    ),
}
FROM_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from fieldmark.client import GatewayClient
from fieldmark.tools.inside import GatewayContext
context = GatewayContext(GatewayClient(), None, None)
with ThreadPoolExecutor() as pool:
    replies = pool.map(lambda n: context.browse({"action": "open", "url": f"{sys.argv[1]}/?{n}"}), range(4))
    print(*(reply["url"].rpartition("?")[2] for reply in replies))
"""
PROCESSES = """
import pathlib, sys
for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    command = file.read_bytes().replace(b"\\0", b" ").decode()
    if sys.argv[1] in command and "import pathlib" not in command:
        print(file.parent.name)
"""
CHROMIUM, PROCESS = "/chromium --show-component", "browsing.process /run"


@pytest.fixture
def episode(
    engine: Any, sandbox_image: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserEpisode]:
    with browser_episode(tmp_path_factory.mktemp("episode"), engine, sandbox_image, PAGES) as started:
        yield started


def processes(episode: BrowserEpisode, words: str) -> list[str]:
    """Process ids in the container whose command line holds these words."""
    return episode.shell("python", "-c", PROCESSES, words)[1].split()


def test_calls_of_all_processes_and_threads_meet_one_page(episode: BrowserEpisode) -> None:
    call = json.dumps({"action": "open", "url": f"{episode.site}/?shell"})
    both = f"fieldmark tool browser --json '{call}' & fieldmark tool browser --json '{call}' & wait"
    rows = [json.loads(line) for line in episode.shell("sh", "-c", both)[1].splitlines()]
    assert [row["ok"] for row in rows] == [True, True]
    assert episode.shell("python", "-c", FROM_THREADS, episode.site) == (0, "0 1 2 3\n")
    assert "/?" in episode.call(action="screenshot")["data"]["url"]
    assert [len(processes(episode, words)) for words in (CHROMIUM, PROCESS)] == [1, 1]


def test_a_page_that_hangs_is_closed_and_the_next_one_opened(episode: BrowserEpisode) -> None:
    hung = episode.open("/hangs")
    assert (hung["error_kind"], "was closed" in hung["text"]) == ("timeout", True)
    assert episode.call(action="scroll")["text"].endswith("no page is open: open a URL first")
    assert "Quiet" in episode.open("/")["text"]
    clicked = episode.call(action="click", element="Hang", seconds=1)
    assert clicked["error_kind"] == "timeout"
    assert "Quiet" in episode.open("/")["text"]


def test_a_page_that_eats_all_memory_costs_itself_only(episode: BrowserEpisode) -> None:
    eaten = episode.open("/eats")
    assert eaten["ok"] is False
    assert eaten["error_kind"] in ("runtime", "timeout")
    assert "Quiet" in episode.open("/")["text"]
    assert episode.engine.containers.get(episode.container).status == "running"


def test_a_browser_that_dies_is_started_again_and_that_is_said(episode: BrowserEpisode) -> None:
    episode.open("/")
    for process in (CHROMIUM, PROCESS):
        [pid] = processes(episode, process)
        episode.shell("sh", "-c", f"kill -9 {pid}")
        lost = episode.call(action="scroll")
        assert lost["ok"] is False
        assert re.search("started again with an empty page|starts a new one", lost["text"])
        assert "Quiet" in episode.open("/")["text"]
