"""POST /fetch through a real door to real servers: redirects, DNS, TLS, oddities, record and replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.web.conftest import MADE_UP, PAGE, MakeDoor, OddSite
from tests.sandbox.gateway.web.test_policy import CASES


async def fetch(inside: Inside, url: str) -> tuple[bytes, dict[str, Any]]:
    reply = await inside.ask("POST", "/fetch", {"url": url})
    return reply.body, json.loads(reply.headers["x-page"])


async def refused(inside: Inside, url: str) -> tuple[str, str]:
    with pytest.raises(GatewayRefused) as caught:
        await fetch(inside, url)
    return caught.value.kind, str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_page_comes_with_its_headers_and_is_recorded(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, scheme: str
) -> None:
    url = f"{getattr(odd_site, scheme)}/page?q=1"
    async with enter(web=door_to()) as inside:
        body, page = await fetch(inside, f"{url}#part")
        [egress] = inside.events("egress")
        kept = inside.blobs.get(page["blob"])
    assert body == kept == PAGE.encode()
    assert (page["final_url"], page["http"], page["truncated"]) == (url, 200, False)
    assert page["media_type"] == "text/html; charset=utf-8"
    [asked] = odd_site.asked
    assert asked.headers["User-Agent"].startswith("fieldmark/")
    assert asked.headers["Host"] == url.split("/")[2]
    assert "Cookie" not in asked.headers
    assert egress["decision"] == "allowed"
    assert (egress["http"], egress["bytes"], egress["blob"]) == (200, len(PAGE), page["blob"])


async def test_a_certificate_that_is_not_valid_is_refused(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to(trust=None)) as inside:
        kind, why = await refused(inside, f"{odd_site.https}/page")
    assert kind == "unavailable"
    assert "certificate" in why
    assert odd_site.asked == []


@pytest.mark.parametrize("url", CASES)
async def test_no_address_inside_is_asked(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, url: str
) -> None:
    async with enter(web=door_to(local=False)) as inside:
        kind, why = await refused(inside, url)
        [egress] = inside.events("egress")
    assert kind == "denied"
    assert (egress["decision"], egress["http"], egress["reason"]) == ("denied", 403, why)


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], [MADE_UP, "127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]]
)
async def test_a_name_that_resolves_inside_is_refused_before_a_connection(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, answers: list[str]
) -> None:
    door = door_to(names={"rebind.example": answers})
    async with enter(web=door) as inside:
        kind, why = await refused(inside, f"http://rebind.example:{odd_site.port}/page")
    assert kind == "denied"
    assert "rebind.example resolves to" in why
    assert odd_site.asked == []


async def test_a_name_is_resolved_once_and_its_checked_address_is_used(
    enter: Enter, odd_site: OddSite
) -> None:
    """A name that turns inward between the check and the connection: the second answer is never asked for."""
    from fieldmark.sandbox.gateway.web.outward import Outward

    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) == 1 else ["127.0.0.1"]

    name = f"turning.example:{odd_site.port}"
    policy = Policy(allow_local=frozenset({name}))  # nobody answers at 192.0.2.1
    door = WebDoor("live", policy, outward=Outward(policy, resolve=resolve, seconds=1.0))
    async with enter(web=door) as inside:
        kind, _ = await refused(inside, f"http://{name}/page")
    assert kind in ("timeout", "unavailable")
    assert asked == ["turning.example"]
    assert odd_site.asked == []


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1:1/secret", "//localhost/", "file:///etc/passwd", "http://169.254.169.254/latest/",
        "http://2130706433/", "http://inner.example/", "http://user@example.org/",
    ],
)  # fmt: skip
async def test_every_redirect_is_checked_again(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, to: str
) -> None:
    door = door_to(names={"inner.example": ["10.1.2.3"]})
    async with enter(web=door) as inside:
        kind, _ = await refused(inside, f"{odd_site.http}/redirect?to={to}")
        decisions = [egress["decision"] for egress in inside.events("egress")]
    assert kind == "denied"
    assert decisions == ["allowed", "denied"]
    assert odd_site.paths == ["/redirect"]


async def test_redirects_are_followed_and_bounded(enter: Enter, door_to: MakeDoor, odd_site: OddSite) -> None:
    async with enter(web=door_to()) as inside:
        _, page = await fetch(inside, f"{odd_site.http}/redirect?to={odd_site.https}/page")
        kind, why = await refused(inside, f"{odd_site.http}/loop")
    assert page["final_url"] == f"{odd_site.https}/page"
    assert kind == "unavailable"
    assert "over 5 redirects" in why
    assert odd_site.paths.count("/loop") == 6


async def test_slow_and_endless_replies_are_bounded(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to(seconds=1.0)) as inside:
        for path in ("/slow", "/drip"):
            kind, _ = await refused(inside, f"{odd_site.http}{path}")
            assert kind == "timeout"
        for path in ("/endless", "/bomb"):
            body, page = await fetch(inside, f"{odd_site.http}{path}")
            assert (len(body), page["truncated"]) == (1_000_000, True)


async def test_errors_and_empty_pages_of_a_site_are_pages(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to()) as inside:
        for path, status, size in (("/204", 204, 0), ("/500", 500, 6), ("/nothing", 404, 12)):
            body, page = await fetch(inside, f"{odd_site.http}{path}")
            assert (page["http"], page["bytes"], len(body)) == (status, size, size)
        kind, why = await refused(inside, "http://unknown.example/")
    assert (kind, why) == ("unavailable", "no address for unknown.example: no such host")


async def test_the_guard_is_counted(enter: Enter, door_to: MakeDoor) -> None:
    async with enter(web=door_to(guard=["hub.example"])) as inside:
        _, why = await refused(inside, "https://www.hub.example/birds/1")
        [egress] = inside.events("egress")
        counts = inside.session.counts
    assert why == egress["reason"] == "guarded: record of a source dataset"
    assert counts["web_guarded"] == 1
    assert counts["denied"] == 1


async def test_a_recorded_run_is_replayed_without_the_web(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, tmp_path: Path
) -> None:
    start = f"{odd_site.http}/redirect?to=/page"
    async with enter(web=door_to("record", archive=Archive.open(tmp_path / "web", write=True))) as inside:
        live = await fetch(inside, start)
    (tmp_path / "blobs").rename(tmp_path / "blobs-live")
    asked = len(odd_site.asked)
    replay = door_to("replay", archive=Archive.open(tmp_path / "web"))
    async with enter(web=replay) as inside:
        assert await fetch(inside, start) == live
        kind, why = await refused(inside, f"{odd_site.http}/page?other")
        decisions = [egress["decision"] for egress in inside.events("egress")]
    assert len(odd_site.asked) == asked
    assert kind == "unavailable"
    assert "not among its recorded pages" in why
    assert decisions == ["replayed", "replayed", "missed"]
    assert (
        replay.uses_line() == f"web archive: 2 hits, 1 misses (1 URLs, the first {odd_site.http}/page?other)"
    )
    assert replay.describe()["archive"]["rows"] == 2


async def test_a_site_in_a_folder_answers_for_its_hosts(enter: Enter, tmp_path: Path) -> None:
    host = tmp_path / "site" / "guide.example"
    (host / "types").mkdir(parents=True)
    (host / "index.html").write_text("<h1>Guide</h1>")
    (host / "types" / "saab.html").write_text("<p>Saab 340</p>")
    (tmp_path / "secret.txt").write_text("secret")
    (host / "link").symlink_to(tmp_path / "secret.txt")
    web = WebDoor("offline", Policy(deny=("guide.example/types/fokker",)), site=Site(tmp_path / "site"))
    async with enter(web=web) as inside:
        for path, status in (
            ("", 200), ("/types/saab", 200), ("/types/saab.html?x=1", 200), ("/types", 404), ("/link", 404),
            ("/..%2f..%2fsecret.txt", 404), ("/%00", 404),
        ):  # fmt: skip
            body, page = await fetch(inside, f"https://guide.example{path}")
            assert page["http"] == status, path
            assert b"secret" not in body
        assert (await refused(inside, "https://guide.example/types/fokker"))[0] == "denied"
        assert (await refused(inside, "https://other.example/"))[0] == "unavailable"
        reasons = [(egress["decision"], egress["reason"]) for egress in inside.events("egress")]
    assert reasons[0] == ("replayed", "site")
    assert [decision for decision, _ in reasons[-2:]] == ["denied", "missed"]


async def test_without_a_web_door_nothing_is_fetched(enter: Enter) -> None:
    async with enter() as inside:
        assert (await refused(inside, "https://example.org/"))[0] == "denied"
        with pytest.raises(GatewayRefused, match="the body is"):
            await inside.ask("POST", "/fetch", ["x"])
        [egress] = inside.events("egress")
    assert egress["decision"] == "denied"
