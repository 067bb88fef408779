"""Searches as they run in a container: through the gateway's socket, to a stand-in for SerpApi."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image
from tenacity import wait_none

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.search.asking import MAX_SEARCHES
from fieldmark.sandbox.gateway.search.door import SearchDoor
from fieldmark.sandbox.gateway.search.engines import search_params, web_hits
from fieldmark.sandbox.gateway.search.serpapi import MAX_UPLOAD, TRIES, SerpApi
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import Mode, WebDoor
from fieldmark.sandbox.gateway.web.outward import Outward
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.inside import GatewayContext
from fieldmark.tools.registry import get_tool
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.serpapi_server import (
    BROKEN,
    INVALID_KEY,
    KEY,
    MALFORMED,
    NOT_AN_OBJECT,
    QUOTA,
    RATE_LIMIT,
    SLOW,
    UNSUPPORTED,
    Answer,
    Asked,
    Script,
    SerpApiServer,
    failed,
    no_results,
    results,
    success,
)
from tests.tools.pictures import jpeg, png, scene

PICTURE = scene(1, (320, 200))
GUARDED = Policy(guard=("hub.example/records",))
WORDS = {"query": "saab 340"}


def searching(
    server: SerpApiServer | None, engine: str | None = "google", *, mode: Mode = "live",
    archive: Archive | None = None, policy: Policy = GUARDED, lens: bool = False, key: str = KEY,
    outward: Outward | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What `enter` takes: the doors of a run that searches on `server`."""
    door = WebDoor(mode, policy, archive=archive, outward=outward)
    api = SerpApi(key, server.origin, seconds=1.0, back_off=wait_none()) if server else None
    return {"web": door, "search": SearchDoor(door, engine=engine, lens=lens, api=api)}


async def call(inside: Inside, name: str = "web_search", **arguments: Any) -> ToolResult:
    context = GatewayContext(inside.client, inside.session.prompt.image, inside.session.prompt.view)
    return await asyncio.to_thread(call_tool, get_tool(name), arguments, context, door="graph")


async def test_a_search_brings_results_and_one_event(enter: Enter) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server)) as inside:
            result = await call(inside, **WORDS)
            events = [(event["kind"], event["by"]) for event in inside.events()]
            [egress] = inside.events("egress")
            counts = inside.session.counts
    assert result.text == (
        "1 result (google); 1 result withheld: records of a source dataset:\n"
        "<untrusted source=web_search:google>\n"
        "1. Saab 340 - Encyclopedia (Encyclopedia)\nhttps://en.example.org/Saab_340\n"
        "The Saab 340 is a twin-engine turboprop aircraft.\n</untrusted>"
    )
    assert set(result.data["hits"][0]) == {"rank", "title", "url", "snippet", "source"}
    assert (result.data["found"], result.data["engine"], result.data["withheld"]) == (True, "google", 1)
    assert events == [("tool_call", "sandbox"), ("egress", "gateway"), ("tool_result", "sandbox")]
    assert egress["url"] == "https://serpapi.com/search?engine=google&gl=us&hl=en&q=saab+340"
    assert (egress["method"], egress["decision"], egress["http"]) == ("SEARCH", "allowed", 200)
    assert (counts["searches"], counts["search_withheld"]) == (1, 1)


async def test_language_and_country_are_the_questions_unless_named(enter: Enter) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server), language="zh") as inside:
            await call(inside, **WORDS)
            await call(inside, **WORDS, language="de", country="AT")
        async with enter(**searching(server), language="(none)") as inside:
            await call(inside, **WORDS)
    spoken = [(asked["hl"], asked["gl"]) for asked in server.asked]
    assert spoken == [("zh-cn", "cn"), ("de", "at"), ("en", "us")]


async def test_baidu_hides_its_links_so_its_hosts_are_guarded(enter: Enter) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server, "baidu"), language="zh") as inside:
            result = await call(inside, query="佛香阁")
        async with enter(**searching(server, "baidu", policy=Policy(guard=["baike.baidu.com"]))) as inside:
            guarded = await call(inside, query="佛香阁")
    assert "1. 佛香阁_百度百科 (baike.baidu.com/)" in result.text
    assert {name: server.asked[0][name] for name in ("engine", "q")} == {"engine": "baidu", "q": "佛香阁"}
    assert [hit["title"] for hit in guarded.data["hits"]] == ["颐和园"]


@pytest.mark.parametrize(
    ("engine", "asked"),
    [
        ("google", {"q": "x", "hl": "zh-cn", "gl": "cn"}),
        ("bing", {"q": "x", "mkt": "zh-CN"}),
        ("baidu", {"q": "x"}),
        ("duckduckgo", {"q": "x", "kl": "cn-zh"}),
        ("yandex", {"text": "x", "lang": "zh"}),
        ("yahoo", {"p": "x", "vc": "cn"}),
        ("naver", {"query": "x"}),
        ("ebay", {"_nkw": "x"}),
        ("an_engine_of_tomorrow", {"q": "x"}),
    ],
)
def test_each_engine_is_asked_in_its_own_words(engine: str, asked: dict[str, str]) -> None:
    assert search_params(engine, "x", "zh", "cn") == {"engine": engine, **asked}


def test_odd_results_are_dropped_not_fatal() -> None:
    reply = success({"engine": "google"}, organic_results=[
        None, "text", {"title": "no link"}, {"title": 7, "link": "https://a.example/"},
        {"title": "data", "link": "data:text/html,x"}, {"title": "odd", "link": "https://[::1"},
        {"title": " a \n b ", "link": "https://b.example/", "snippet": None, "source": {"name": "x"}},
    ])  # fmt: skip
    hit = {"title": "a b", "url": "https://b.example/", "snippet": "", "source": "b.example"}
    assert web_hits(reply.body) == [hit]
    assert web_hits({"organic_results": {"title": "x"}}) == []


# -- failures --------------------------------------------------------------------------------------


async def test_no_results_are_a_result_asked_once_more_without_cache(enter: Enter) -> None:
    with SerpApiServer(no_results) as server:
        async with enter(**searching(server)) as inside:
            result = await call(inside, **WORDS)
    assert (result.ok, result.data["found"]) == (True, False)
    assert result.text == "Nothing was found (google). Other or fewer words may find more."
    assert [asked.get("no_cache") for asked in server.asked] == [None, "true"]


async def test_no_results_of_lens_are_a_result_too(enter: Enter) -> None:
    with SerpApiServer(no_results) as server:
        async with enter(**searching(server, None, lens=True)) as inside:
            result = await call(inside, "reverse_image_search")
    assert (result.ok, result.data["found"]) == (True, False)
    assert result.text == "Nothing similar to the whole image was found."


def in_turn(*answers: Answer) -> Script:
    """These answers, then results."""
    left = list(answers)
    return lambda asked: left.pop(0) if left else results(asked)


async def test_what_passes_is_waited_out_and_not_charged(enter: Enter) -> None:
    with SerpApiServer(in_turn(BROKEN, RATE_LIMIT, SLOW)) as server:
        async with enter(**searching(server)) as inside:
            result = await call(inside, **WORDS)
            clock = inside.session.clock
            waited, wall = clock.waited, clock.wall
    assert result.ok
    assert len(server.asked) == TRIES
    assert wall > waited >= 1.0


@pytest.mark.parametrize(
    ("answer", "kind", "says", "reason", "tries"),
    [
        (RATE_LIMIT, "unavailable", "limits the rate of searches", "rate_limit: Your account", TRIES),
        (SLOW, "timeout", "the search took too long", "timeout: SerpApi did not answer", TRIES),
        (MALFORMED, "unavailable", "cannot be read", "malformed: ", TRIES),
        (NOT_AN_OBJECT, "unavailable", "cannot be reached", "unreachable: SerpApi answered HTTP 500", TRIES),
        (BROKEN, "unavailable", "cannot be reached", "unreachable: SerpApi answered HTTP 500", TRIES),
        (failed({"engine": "google"}), "unavailable", "no valid answer", "no_answer: We couldn't", TRIES),
        (Answer({"error": "Invalid `q`."}, 400), "invalid_args", "refused these words", "refused: ", 1),
    ],
)  # fmt: skip
async def test_each_failure_has_its_own_name_for_the_model_and_the_trace(
    enter: Enter, answer: Answer, kind: str, says: str, reason: str, tries: int
) -> None:
    with SerpApiServer([answer]) as server:
        async with enter(**searching(server)) as inside:
            result = await call(inside, **WORDS)
            [egress], counts = inside.events("egress"), inside.session.counts
    assert (result.ok, result.error_kind) == (False, kind)
    assert says in result.text
    assert egress["reason"].startswith(reason)
    assert (len(server.asked), counts["searches_failed"]) == (tries, 1)


@pytest.mark.parametrize(
    ("answer", "kind"), [(QUOTA, "quota"), (INVALID_KEY, "invalid_key"), (UNSUPPORTED, "bad_engine")]
)
async def test_what_no_waiting_mends_stops_the_run_and_is_not_asked_again(
    enter: Enter, answer: Answer, kind: str
) -> None:
    with SerpApiServer([answer]) as server:
        doors = searching(server)
        async with enter(**doors) as inside:
            with pytest.raises(GatewayGone):
                await call(inside, **WORDS)
            outcome = await inside.end()
        assert outcome.error
        assert (outcome.status, outcome.stops_run) == ("sandbox_error", True)
        assert (outcome.error.boundary, outcome.error.kind) == ("search", kind)
        async with enter(**doors) as inside:
            with pytest.raises(GatewayGone):
                await call(inside, **WORDS)
    assert len(server.asked) == 1
    assert doors["search"].describe()["stopped"] == kind


async def test_a_service_that_stays_down_is_a_fault_of_ours_and_one_success_forgets_it(enter: Enter) -> None:
    down = [BROKEN] * TRIES
    with SerpApiServer(in_turn(*down, *down)) as server:
        async with enter(**searching(server)) as inside:
            told = [(await call(inside, **WORDS)).ok for _ in range(3)]
    assert told == [False, False, True]
    with SerpApiServer([BROKEN]) as server:
        async with enter(**searching(server)) as inside:
            assert not (await call(inside, **WORDS)).ok
            assert not (await call(inside, **WORDS)).ok
            with pytest.raises(GatewayGone):
                await call(inside, **WORDS)
            outcome = await inside.end()
    assert outcome.error
    assert (outcome.error.boundary, outcome.error.kind, outcome.stops_run) == ("search", "unreachable", False)


async def test_a_service_that_is_not_there_is_named_so(enter: Enter) -> None:
    server = SerpApiServer()
    server.port = 9  # nobody listens
    async with enter(**searching(server)) as inside:
        result = await call(inside, **WORDS)
    assert (result.error_kind, "cannot be reached" in result.text) == ("unavailable", True)


@pytest.mark.parametrize(
    "body",
    [
        {}, {"query": ""}, {"query": 7}, {"query": "x", "language": "English"},
        {"query": "x", "country": "&q=1"}, {"query": "x", "limit": "many"}, [],
    ],
)  # fmt: skip
async def test_what_a_sandbox_may_not_ask_is_refused(enter: Enter, body: Any) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server)) as inside:
            with pytest.raises(GatewayRefused, match=r"query is a text|a code such as|limit is|JSON object"):
                await inside.post("/lookup/web-search", body)
    assert server.asked == []


async def test_an_episode_cannot_search_without_end(enter: Enter) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server)) as inside:
            inside.session.counts["searches"] = MAX_SEARCHES - 1
            assert (await call(inside, **WORDS)).ok
            refused = await call(inside, **WORDS)
    assert (refused.error_kind, len(server.asked)) == ("denied", 1)


async def test_without_a_search_the_route_says_so(enter: Enter) -> None:
    async with enter() as inside:
        result = await call(inside, **WORDS)
    assert (result.error_kind, "this run has no web search" in result.text) == ("unavailable", True)


# -- the picture -----------------------------------------------------------------------------------


@pytest.fixture
async def thumbnails() -> Any:
    """`await thumbnails({path: bytes})`: a server for small pictures, and an Outward that finds it."""
    runners = []

    async def serve(files: dict[str, bytes]) -> tuple[str, Outward, Policy]:
        async def answer(request: web.Request) -> web.Response:
            data = files.get(request.path)
            return web.Response(body=data, content_type="image/jpeg", status=200 if data else 404)

        app = web.Application()
        app.router.add_get("/{name}", answer)
        runner = web.AppRunner(app)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        authority = f"127.0.0.1:{runner.addresses[0][1]}"
        policy = Policy(guard=("hub.example",), allow_local=frozenset({authority}))
        return f"http://{authority}", Outward(policy), policy

    yield serve
    for runner in runners:
        await runner.cleanup()


def lens(*matches: dict[str, Any]) -> Callable[[Asked], Answer]:
    return lambda asked: success(asked, visual_matches=list(matches))


def copy_of_the_task_picture(box: tuple[int, int, int, int] | None = None) -> bytes:
    """As a thumbnail somewhere on the web."""
    return jpeg((PICTURE.crop(box) if box else PICTURE).resize((160, 100)), quality=60)


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """The task picture as a file."""
    path = tmp_path / "shown.png"
    PICTURE.save(path)
    return path


async def test_lens_gets_the_picture_and_its_own_copies_are_marked(
    enter: Enter, thumbnails: Any, shown: Path
) -> None:
    files = {"/same": copy_of_the_task_picture(), "/other": jpeg(scene(2)), "/broken": b"no picture"}
    base, outward, policy = await thumbnails(files)
    matches = [
        {"title": name, "link": f"https://{name}.example/", "thumbnail": f"{base}/{name}"}
        for name in ("same", "other", "broken", "gone")
    ]
    record = {"title": "record", "link": "https://hub.example/7"}
    private = {"title": "private", "link": "https://p.example/", "thumbnail": "http://10.0.0.5/x.jpg"}
    with SerpApiServer(
        lens(record, *matches, private, {"title": "bare", "link": "https://bare.example/"})
    ) as server:
        doors = searching(server, None, lens=True, policy=policy, outward=outward)
        async with enter(**doors, picture=shown) as inside:
            result = await call(inside, "reverse_image_search", limit=6)
            events = inside.events("egress")
    marks = {hit["title"]: hit["same_picture"] for hit in result.data["hits"]}
    assert marks == {
        "same": True,
        "other": False,
        "broken": None,
        "gone": None,
        "private": None,
        "bare": None,
    }
    first = result.data["hits"][0]
    assert set(first) == {"rank", "title", "page", "source", "thumbnail", "image", "score", "same_picture"}
    assert (first["rank"], first["score"], result.data["withheld"]) == (1, None, 1)
    assert "1. same (same.example), https://same.example/: the same picture" in result.text
    assert (
        "2. other (other.example), https://other.example/: looks alike to the search engine, not"
        in result.text
    )
    assert "which gives no scores (1 withheld: records of a source dataset):" in result.text
    [sent] = server.uploads
    assert [(event["method"], event["bytes"]) for event in events[:1]] == [("UPLOAD", len(sent))]
    assert events[1]["method"] == "LENS"
    assert server.asked[0]["image_id"] == "img1"
    assert not Image.open(io.BytesIO(sent)).getexif()


async def test_a_box_is_cut_on_the_host_and_only_it_is_sent(
    enter: Enter, thumbnails: Any, shown: Path
) -> None:
    base, outward, policy = await thumbnails({"/cut": copy_of_the_task_picture((0, 0, 100, 200))})
    match = {"title": "cut", "link": "https://a.example/", "thumbnail": f"{base}/cut"}
    with SerpApiServer(lens(match)) as server:
        doors = searching(server, None, lens=True, policy=policy, outward=outward)
        async with enter(**doors, picture=shown) as inside:
            result = await call(inside, "reverse_image_search", x1=0, y1=0, x2=100, y2=200)
            outside = await call(inside, "reverse_image_search", x1=900, y1=900, x2=950, y2=950)
    assert Image.open(io.BytesIO(server.uploads[0])).size == (100, 200)
    assert result.data["hits"][0]["same_picture"] is True
    assert result.regions[0].box == (0, 0, 100, 200)
    assert outside.error_kind == "invalid_args"
    assert len(server.uploads) == 1


def test_what_is_sent_fits_and_is_the_same_each_time() -> None:
    from fieldmark.sandbox.gateway.search.pictures import small_jpeg

    noise = jpeg(Image.effect_noise((1800, 1200), 200).convert("RGB"))
    sent = small_jpeg(noise, None)
    assert len(sent) <= MAX_UPLOAD
    assert sent == small_jpeg(noise, None)
    strip = small_jpeg(png(Image.new("RGB", (4000, 10))), None)
    assert Image.open(io.BytesIO(strip)).size == (1600, 4)


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "file:///etc/passwd"}, {"image": "/etc/passwd"}, {"path": "/workspace/x.jpg"},
        {"image_url": "data:image/png;base64,AAAA"}, {"URL": "http://10.0.0.5/x.jpg"},
    ],
)  # fmt: skip
async def test_a_model_can_name_a_box_and_no_picture_of_its_own(enter: Enter, arguments: Any) -> None:
    with SerpApiServer() as server:
        async with enter(**searching(server, None, lens=True)) as inside:
            result = await call(inside, "reverse_image_search", **arguments)
    assert result.error_kind == "invalid_args"
    assert "only the task image, or a box of it, can be searched for" in result.text
    assert (server.uploads, server.asked) == ([], [])


# -- recorded and replayed -------------------------------------------------------------------------


async def both_searches(inside: Inside) -> list[ToolResult]:
    return [await call(inside, **WORDS), await call(inside, "reverse_image_search")]


async def test_what_was_recorded_is_replayed_to_the_letter_and_nothing_goes_out(
    enter: Enter, tmp_path: Path
) -> None:
    with SerpApiServer() as server:
        archive = Archive.open(tmp_path / "kept", write=True)
        async with enter(**searching(server, mode="record", archive=archive, lens=True)) as inside:
            recorded = await both_searches(inside)
        asked = len(server.asked)
        assert archive.uses.recorded == 2
        archive = Archive.open(tmp_path / "kept")
        doors = searching(None, mode="replay", archive=archive, lens=True)
        async with enter(**doors) as inside:
            replayed = await both_searches(inside)
            missed = await call(inside, query="something else")
            box = await call(inside, "reverse_image_search", x1=0, y1=0, x2=50, y2=50)
            decisions = [event["decision"] for event in inside.events("egress") if event["method"] != "GET"]
        assert (len(server.asked), len(server.uploads)) == (asked, 1)
    assert [result.data for result in replayed] == [result.data for result in recorded]
    assert decisions == ["replayed", "replayed", "missed", "missed"]
    assert "this search was not recorded" in missed.text
    assert "a search for this picture or box was not recorded" in box.text
    assert (archive.uses.hits, archive.uses.misses) == (2, 3)  # and the one thumbnail
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


async def test_the_key_is_nowhere_even_when_a_reply_repeats_it(enter: Enter, tmp_path: Path) -> None:
    def echo(asked: Asked) -> Answer:
        reply = results(asked)
        reply.body["search_parameters"]["api_key"] = asked["api_key"]
        reply.body["search_metadata"]["json_endpoint"] = (
            f"https://serpapi.com/x.json?api_key={asked['api_key']}"
        )
        reply.body["organic_results"][0]["title"] += f" {asked['api_key']}"
        return reply

    refused = Answer({"error": f"bad query for api key... {KEY}"}, 400)
    for script in (echo, [refused]):
        with SerpApiServer(script) as server:
            archive = Archive.open(tmp_path / "kept", write=True)
            async with enter(**searching(server, mode="record", archive=archive)) as inside:
                result = await call(inside, **WORDS) if script is echo else None
                if script is not echo:
                    with pytest.raises(GatewayGone):
                        await call(inside, **WORDS)
                    outcome = await inside.end()
                    assert KEY not in str(outcome.error)
        assert KEY not in str(result)
        assert server.asked
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in everything if KEY.encode() in path.read_bytes()]


# -- the account -----------------------------------------------------------------------------------


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[SerpApiServer]:
    with SerpApiServer() as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
        yield server


def test_the_account_is_read_from_the_environment(
    account: SerpApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SerpApi.from_environment("SERPAPI_API_KEY").searches_left() == 100
    monkeypatch.delenv("SERPAPI_API_KEY")
    with pytest.raises(UsageError, match=r"put it into \$SERPAPI_API_KEY"):
        SerpApi.from_environment("SERPAPI_API_KEY")
