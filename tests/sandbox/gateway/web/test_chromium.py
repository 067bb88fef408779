"""Real Chromium in a real, networkless container: http and https pages through the browser's own door."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fieldmark.needs import Needs
from fieldmark.sandbox import container as made
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from tests.sandbox.gateway.conftest import Enter

BROWSE = """
import subprocess, sys
from fieldmark.agents.relay import start_relay
port = start_relay("/run/fieldmark/browser.sock", 8119)
command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--proxy-server=http://127.0.0.1:{port}",
           "--proxy-bypass-list=<-loopback>", "--ignore-certificate-errors", "--user-data-dir=/tmp/profile",
           "--virtual-time-budget=5000", "--timeout=20000", "--dump-dom", sys.argv[1]]
done = subprocess.run(command, capture_output=True, text=True, timeout=60)
print(done.stdout)
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    host = tmp_path / "site" / "guide.example"
    host.mkdir(parents=True)
    (host / "index.html").write_text(
        "<title>x</title><p id=a>plain</p><script src=/late.js></script>"
        "<script>try { new WebSocket('wss://guide.example/ws') } catch (e) {}</script>"
    )
    (host / "late.js").write_text("document.getElementById('a').textContent = 'written by a script'")
    return Site(tmp_path / "site")


def browse(engine: Any, image: str, door: Path, url: str) -> str:
    """What Chromium makes of a URL, as its DOM."""
    command = [made.PYTHON, "-c", BROWSE, url]
    options = made.create_options(image, command, "test-chromium", 90)
    host = made.host_options(door, Needs(), {})
    host["auto_remove"] = False
    created = engine.api.create_container(**options, host_config=engine.api.create_host_config(**host))
    try:
        engine.api.start(created["Id"])
        engine.api.wait(created["Id"], timeout=90)
        return str(engine.api.logs(created["Id"]).decode())
    finally:
        engine.api.remove_container(created["Id"], force=True)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_chromium_reads_pages_through_the_gateway(
    enter: Enter, engine: Any, sandbox_image: str, site: Site, scheme: str
) -> None:
    async with enter(web=WebDoor("offline", Policy(), site=site)) as inside:
        door = Path(inside.client.path).parent
        dom = await asyncio.to_thread(browse, engine, sandbox_image, door, f"{scheme}://guide.example/")
        asked = {(event["url"], event["decision"]) for event in inside.events("egress")}
    assert "written by a script" in dom
    page, script = f"{scheme}://guide.example/", f"{scheme}://guide.example/late.js"
    assert {(page, "replayed"), (script, "replayed")} <= asked
    assert {decision for url, decision in asked if url.endswith("/ws")} <= {"denied"}


async def test_chromium_is_told_why_a_page_is_denied(
    enter: Enter, engine: Any, sandbox_image: str, site: Site
) -> None:
    async with enter(web=WebDoor("offline", Policy(), site=site)) as inside:
        door = Path(inside.client.path).parent
        dom = await asyncio.to_thread(browse, engine, sandbox_image, door, "http://127.0.0.1:2375/")
        asked = [(event["url"], event["decision"]) for event in inside.events("egress")]
    assert "a loopback address" in dom
    assert ("http://127.0.0.1:2375/", "denied") in asked
