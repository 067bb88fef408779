"""What one episode may ask and store, whatever a program in its container does."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.keeper import MAX_STORED_BYTES
from fieldmark.sandbox.gateway.web.door import MAX_REQUESTS, WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from tests.sandbox.gateway.conftest import Enter

SIZE = 50 * 10**6


@pytest.fixture
def web(tmp_path: Path) -> WebDoor:
    (tmp_path / "site" / "guide.example").mkdir(parents=True)
    (tmp_path / "site" / "guide.example" / "index.html").write_text("<p>Guide</p>")
    return WebDoor("offline", Policy(), site=Site(tmp_path / "site"))


async def test_requests_beyond_the_limit_are_refused(enter: Enter, web: WebDoor) -> None:
    ask = {"url": "http://guide.example/"}
    async with enter(web=web) as inside:
        inside.session.counts["web_requests"] = MAX_REQUESTS - 1
        assert (await inside.ask("POST", "/fetch", ask)).status == 200
        for _ in range(3):
            with pytest.raises(GatewayRefused, match="has made 5000 web requests"):
                await inside.ask("POST", "/fetch", ask)
        kinds = [event["kind"] for event in inside.events()]
    assert kinds == ["egress"] * 4


async def test_pages_beyond_the_bytes_of_an_episode_are_refused(
    enter: Enter, web: WebDoor, tmp_path: Path
) -> None:
    page = tmp_path / "site" / "guide.example" / "index.html"
    async with enter(web=web) as inside:
        for number in range(MAX_STORED_BYTES // SIZE + 1):
            page.write_bytes(b"\0%03d" % number + b"0" * (SIZE - 4))
            try:
                await inside.ask("POST", "/fetch", {"url": "http://guide.example/"})
            except GatewayRefused as refused:
                last = str(refused)
        egress = inside.events("egress")
    assert "over the limit of 200000000 bytes" in last
    assert [event["decision"] for event in egress] == ["replayed"] * 4 + ["denied"]
