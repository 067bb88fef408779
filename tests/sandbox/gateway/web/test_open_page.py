"""The tool open_page as it runs in a container: through the gateway's socket, to real servers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.inside import GatewayContext
from fieldmark.tools.registry import get_tool
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.web.conftest import MakeDoor, OddSite


async def open_page(inside: Inside, url: str, **arguments: Any) -> ToolResult:
    context = GatewayContext(inside.client, inside.session.prompt.image, inside.session.prompt.view)
    tool, given = get_tool("open_page"), {"url": url, **arguments}
    return await asyncio.to_thread(call_tool, tool, given, context, door="graph")


async def test_a_page_is_read_and_the_trace_holds_it(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to()) as inside:
        result = await open_page(inside, f"{odd_site.https}/page")
        kinds = [(event["kind"], event["by"]) for event in inside.events()]
        [call], [told] = inside.events("tool_call"), inside.events("tool_result")
    assert result.text == (
        "Page 1 of 1: shown characters 1-29 of 29.\n"
        f"<untrusted source={odd_site.https}/page>\n"
        "Title: Guide\n\nThe Saab 340 has two engines.\n</untrusted>"
    )
    assert kinds == [("tool_call", "sandbox"), ("egress", "gateway"), ("tool_result", "sandbox")]
    assert (call["action"], told["ok"]) == ("open_page", True)


@pytest.mark.parametrize(
    ("path", "ok", "kind", "says"),
    [
        ("/204", True, None, "the page is empty (HTTP 204)"),
        ("/download", True, None, "a download, not a page (application/octet-stream, 4,096 bytes)"),
        ("/endless", True, None, "cut off after 1,000,000 bytes"),
        ("/loop", False, "unavailable", "over 5 redirects"),
        ("/slow", False, "timeout", "took over 1 s"),
        ("/500", False, "unavailable", "HTTP 500"),
        ("/nothing", False, "not_found", "HTTP 404"),
        ("/redirect?to=http://169.254.169.254/", False, "denied", "a metadata address"),
    ],
)
async def test_oddities_of_sites_become_words_within_seconds(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, path: str, ok: bool, kind: str | None, says: str
) -> None:
    async with enter(web=door_to(seconds=1.0)) as inside:
        result = await asyncio.wait_for(open_page(inside, f"{odd_site.http}{path}"), 10)
    assert (result.ok, result.error_kind) == (ok, kind)
    assert says in result.text
