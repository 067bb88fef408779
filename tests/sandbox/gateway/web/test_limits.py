"""What one episode may ask and store, whatever a program in its container does."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.events import MAX_BLOB_BYTES
from fieldmark.sandbox.gateway.web.door import MAX_REQUESTS, WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from tests.sandbox.gateway.conftest import Enter


@pytest.fixture
def web(tmp_path: Path) -> WebDoor:
    (tmp_path / "site" / "guide.example").mkdir(parents=True)
    (tmp_path / "site" / "guide.example" / "index.html").write_text("<p>Guide</p>")
    return WebDoor("offline", Policy(), site=Site(tmp_path / "site"))


async def test_requests_beyond_the_limit_are_refused_and_written_down_once(
    enter: Enter, web: WebDoor
) -> None:
    ask = {"url": "http://guide.example/"}
    async with enter(web=web) as inside:
        inside.session.counts["web_requests"] = MAX_REQUESTS - 1
        assert (await inside.ask("POST", "/fetch", ask)).status == 200
        for _ in range(3):
            with pytest.raises(GatewayRefused, match="has made 5000 web requests"):
                await inside.ask("POST", "/fetch", ask)
        kinds = [event["kind"] for event in inside.events()]
    assert kinds == ["egress", "log"]


async def test_pages_beyond_the_bytes_of_an_episode_are_refused(enter: Enter, web: WebDoor) -> None:
    async with enter(web=web) as inside:
        inside.session.blob_bytes = MAX_BLOB_BYTES - 5
        with pytest.raises(GatewayRefused, match="over 200 MB of pages"):
            await inside.ask("POST", "/fetch", {"url": "http://guide.example/"})
        [egress] = inside.events("egress")
    assert (egress["decision"], egress["bytes"]) == ("denied", 0)
