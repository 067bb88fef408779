"""A stand-in for SerpApi: real HTTP, its documented JSON, and its failures on demand.

    with SerpApiServer() as server:                  # results for every engine
    with SerpApiServer(lambda asked: QUOTA) as server:
        ... SERPAPI_BASE_URL=server.origin

`script` is called with the parameters of each search and returns an Answer; a list is played in order, its
last Answer again and again.
"""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from PIL import Image

from tests.threaded_server import ThreadedServer

KEY = "canary-SERPKEY-0123456789abcdef"
Asked = dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What to answer, after `delay` seconds; a `body` that is no str is sent as JSON."""

    body: Any = field(default_factory=dict)
    status: int = 200
    media_type: str = "application/json"
    delay: float = 0.0


Script = Callable[[Asked], Answer]

QUOTA = Answer({"error": "Your account has run out of searches."}, 429)
"""Case 8-02: the status of a rate limit, and none."""
RATE_LIMIT = Answer({"error": "Your account has exceeded its hourly throughput limit."}, 429)
INVALID_KEY = Answer({"error": "Invalid API key. Your API key should be here."}, 401)
MALFORMED = Answer("<html>busy</html>", media_type="text/html")
NOT_AN_OBJECT = Answer('"oops"', 500)
BROKEN = Answer({"error": "internal"}, 500)
SLOW = Answer(delay=60.0)
UNSUPPORTED = Answer({"error": "Unsupported `gogle` search engine."}, 400)


def success(asked: Asked, **results: Any) -> Answer:
    """A reply as SerpApi frames it."""
    shown = {name: value for name, value in asked.items() if name != "api_key"}
    metadata = {"id": "66f0", "status": "Success", "total_time_taken": 1.1}
    return Answer({"search_metadata": metadata, "search_parameters": shown, **results})


def no_results(asked: Asked) -> Answer:
    """HTTP 200, "Success", and an error that is none (case 8-01)."""
    name = asked["engine"].replace("_", " ").title()
    reply = success(asked, error=f"{name} hasn't returned any results for this query.")
    return Answer({**reply.body, "search_information": {"images_results_state": "Fully empty"}})


def failed(asked: Asked) -> Answer:
    """SerpApi got nothing valid from the engine."""
    reply = success(asked, error="We couldn't get valid results for this search. Please try again later.")
    reply.body["search_metadata"]["status"] = "Error"
    return reply


def results(asked: Asked) -> Answer:
    """Two results of any engine, in the fields that it gives."""
    match asked["engine"]:
        case "google_lens":
            return success(asked, visual_matches=[
                {"position": 1, "title": "Saab 340 landing", "link": "https://photos.example/saab-340",
                 "source": "Photos", "thumbnail": "https://thumbs.example/1.jpg",
                 "image": "https://photos.example/1.jpg", "image_width": 800, "image_height": 600},
                {"position": 2, "title": "Turboprop at dusk", "link": "https://other.example/dusk"},
            ])  # fmt: skip
        case "baidu":
            return success(asked, organic_results=[
                {"position": 1, "title": "佛香阁_百度百科", "link": "http://www.baidu.com/link?url=AbC",
                 "displayed_link": "baike.baidu.com/", "snippet": "佛香阁位于颐和园万寿山前山。"},
                {"position": 2, "title": "颐和园", "link": "http://www.baidu.com/link?url=DeF"},
            ])  # fmt: skip
        case "naver":
            return success(asked, web_results=[{"title": "Saab 340", "link": "https://n.example/"}])
    return success(asked, organic_results=[
        {"position": 1, "title": "Saab 340 - Encyclopedia", "link": "https://en.example.org/Saab_340",
         "displayed_link": "https://en.example.org › Saab_340", "source": "Encyclopedia",
         "snippet": "The Saab 340 is a twin-engine turboprop aircraft."},
        {"position": 2, "title": "Dataset record 7", "link": "https://hub.example/records/7",
         "snippet": "record 7: Saab 340B"},
    ])  # fmt: skip


class SerpApiServer(ThreadedServer):
    """Runs in its own thread. `asked` are the searches that came, `uploads` the pictures."""

    def __init__(self, script: Script | Sequence[Answer] = results, *, left: int = 100) -> None:
        super().__init__()
        self._script = script if callable(script) else _in_order(script)
        self._left = left
        self.asked: list[Asked] = []
        self.uploads: list[bytes] = []

    @property
    def env(self) -> dict[str, str]:
        """The environment of a program that searches here."""
        return {"SERPAPI_BASE_URL": self.origin, "SERPAPI_API_KEY": KEY}

    def _routes(self, router: web.UrlDispatcher) -> None:
        router.add_get("/search", self._search)
        router.add_post("/image", self._image)
        router.add_get("/account.json", self._account)

    async def _search(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        if asked.get("api_key") != KEY:
            return await _sent(INVALID_KEY)
        self.asked.append(asked)
        return await _sent(self._script(asked))

    async def _image(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["image"]
        assert isinstance(file, web.FileField)
        data = file.file.read()
        if form.get("api_key") != KEY:
            return await _sent(INVALID_KEY)
        if len(data) > 500_000 or Image.open(io.BytesIO(data)).format not in ("JPEG", "PNG", "WEBP"):
            return await _sent(Answer({"error": "Image must be a JPG, PNG or WebP of at most 500 KB."}, 400))
        self.uploads.append(data)
        return await _sent(Answer({"image_id": f"img{len(self.uploads)}"}))

    async def _account(self, request: web.Request) -> web.Response:
        if request.query.get("api_key") != KEY:
            return await _sent(INVALID_KEY)
        return await _sent(Answer({"api_key": KEY, "total_searches_left": self._left}))


async def _sent(answer: Answer) -> web.Response:
    await asyncio.sleep(answer.delay)
    text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    return web.Response(text=text, status=answer.status, content_type=answer.media_type)


def _in_order(answers: Sequence[Answer]) -> Script:
    left = list(answers)
    lock = threading.Lock()

    def script(asked: Asked) -> Answer:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script
