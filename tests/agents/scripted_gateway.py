"""A gateway with the routes of docs/gateway.md on a real unix socket, whose model replies are scripted."""

from __future__ import annotations

import hashlib
import json
import socketserver
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fieldmark.task import Limits, Prompt
from fieldmark.trace import Picture

Json = dict[str, Any]
Reply = Json | Callable[[Json], Json]
"""A message of the model, or a function of the request; a key `http` makes it an error of that status."""

VIEW = b"\x89PNG the view"
ORIGINAL = b"\x89PNG the original"


def picture(data: bytes, width: int, height: int) -> Picture:
    return Picture(blob=hashlib.sha256(data).hexdigest(), media_type="image/png", width=width, height=height)


def make_prompt(**fields: Any) -> Prompt:
    """A prompt about a picture of 400 x 300 pixels, shown at 200 x 150."""
    defaults: Json = {
        "token": "t0",
        "question": "What aircraft is this?",
        "image": picture(ORIGINAL, 400, 300),
        "view": picture(VIEW, 200, 150),
        "tools": ["crop_zoom", "aircraft_registry", "answer"],
        "model": "scripted",
        "limits": Limits(turns=12),
    }
    return Prompt(**{**defaults, **fields})


def call(name: str, arguments: Any, call_id: str | None = "c1") -> Json:
    """A tool call of the model; arguments that are a string are taken as they are."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*rows: Json, text: str | None = None) -> Json:
    return {"content": text, "tool_calls": list(rows)}


def says(text: str | None, **fields: Any) -> Json:
    return {"content": text, **fields}


CROP = {"x1": 10, "y1": 10, "x2": 60, "y2": 60}


class ScriptedGateway:
    """Plays `replies` in order (the last one repeats) and keeps all that it was sent."""

    def __init__(self, prompt: Prompt, replies: list[Reply]) -> None:
        self.prompt = prompt
        self.replies = replies
        self.requests: list[Json] = []
        self.events: list[Json] = []
        self.routes: list[str] = []
        self.done: list[Json] = []
        self.before_region: Callable[[], object] = lambda: None
        self.gone = threading.Event()
        self.finished = threading.Event()
        self.lifeline_open = threading.Event()
        self.leased = threading.Event()
        self.leased.set()
        self._cut = threading.Event()
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="fm-test-", dir="/tmp")
        self.path = str(Path(self._folder.name) / "g.sock")
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answers(self) -> list[Json]:
        return [event for event in self.events if event["kind"] == "answer"]

    def of_kind(self, kind: str) -> list[Json]:
        return [event for event in self.events if event["kind"] == kind]

    def cut_lifeline(self) -> None:
        self._cut.set()

    def close(self) -> None:
        self.gone.set()
        self._cut.set()
        self.leased.set()
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def wait_for_cut(self) -> None:
        self.lifeline_open.set()
        self._cut.wait()

    def next_reply(self, request: Json) -> Json:
        with self._lock:
            self.requests.append(request)
            reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        return reply(request) if callable(reply) else reply


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, gateway: ScriptedGateway) -> None:
        self.gateway = gateway
        super().__init__(gateway.path, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    @property
    def gateway(self) -> ScriptedGateway:
        return self.server.gateway

    def address_string(self) -> str:
        return "worker"

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_PUT = do_POST

    def _serve(self, body: bytes) -> None:
        self.gateway.routes.append(f"{self.command} {self.path}")
        with suppress(BrokenPipeError, ConnectionResetError):
            self._route(urlsplit(self.path).path, body)

    def _route(self, route: str, body: bytes) -> None:
        if route == "/lifeline":
            self.gateway.wait_for_cut()
            self.close_connection = True
        elif self.gateway.gone.is_set():
            self._json({"error": {"kind": "gone", "message": "over"}}, 410)
        elif route == "/episode":
            self._episode()
        elif route == "/image":
            self._bytes(VIEW, "image/png")
        elif route == "/image/region":
            self._region()
        elif route == "/v1/chat/completions":
            self._chat(json.loads(body))
        else:
            self._small(route, body)

    def _episode(self) -> None:
        if self.gateway.leased.wait(0.2):
            self._bytes(self.gateway.prompt.model_dump_json().encode(), "application/json")
        else:
            self._bytes(b"", "text/plain", 204)

    def _region(self) -> None:
        self.gateway.before_region()
        query = parse_qs(urlsplit(self.path).query)
        box = [float(n) for n in query["box"][0].split(",")] if "box" in query else [0, 0, 400, 300]
        scale = float(query["scale"][0])
        data = f"region {self.path}".encode()
        cut = picture(data, round((box[2] - box[0]) * scale), round((box[3] - box[1]) * scale))
        described = cut.model_copy(
            update={"of": self.gateway.prompt.image.blob, "box": tuple(box), "scale": scale,
                    "media_type": query["type"][0]}
        )  # fmt: skip
        self._bytes(data, query["type"][0], headers={"X-Picture": described.model_dump_json()})

    def _chat(self, request: Json) -> None:
        message = self.gateway.next_reply(request)
        if "http" in message:
            self._json({"error": message["error"]}, message["http"])
            return
        finish = message.get("finish") or ("tool_calls" if message.get("tool_calls") else "stop")
        fields = {key: value for key, value in message.items() if key != "finish"}
        choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}
        self._json({"choices": [choice]})

    def _small(self, route: str, body: bytes) -> None:
        if route == "/events":
            rows = json.loads(body)
            self.gateway.events += rows if isinstance(rows, list) else [rows]
            self._json({"seq": [len(self.gateway.events)]})
        elif route == "/blobs":
            self._json({"blob": hashlib.sha256(body).hexdigest()})
        elif route == "/lookup/aircraft":
            self._json({"found": False, "records": [], "candidates": [], "nation": None})
        elif route == "/done":
            self.gateway.done.append(json.loads(body))
            self.gateway.finished.set()
            self._json({})
        elif route == "/health":
            self._json({"ok": True})
        else:
            self._json({"error": {"kind": "not_found", "message": route}}, 404)

    def _json(self, value: Json, status: int = 200) -> None:
        self._bytes(json.dumps(value).encode(), "application/json", status)

    def _bytes(self, data: bytes, media_type: str, status: int = 200, headers: Json | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
