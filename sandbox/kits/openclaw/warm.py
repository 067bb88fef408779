"""Runs once while the image is built: one turn of OpenClaw against a stand-in for a model on this machine.

It proves that the program runs, and fills the folder `warm` with what Node.js has compiled, so that no
episode compiles it again: 7 of 20 CPU seconds. Node.js keeps that by user: it runs as the containers' user.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).parent
ACTS = [("exec", {"command": "true"}), ("view_image", {"path": "picture.png"}), ("read", {"path": "x"})]
"""What the model asks for, so that the modules of these tools are loaded."""
PICTURE = (
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


class Model(BaseHTTPRequestHandler):
    """Asks for ACTS in its first reply, says `ready` in every other, as server-sent events."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        new = b'"role":"tool"' not in asked.replace(b" ", b"") and b'"tools"' in asked
        said = {"tool_calls": [_call(n, *act) for n, act in enumerate(ACTS)]} if new else {"content": "ready"}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta, finish in ((said, None), ({}, "tool_calls" if new else "stop")):
            choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
            chunk = json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})
            self.wfile.write(f"data: {chunk}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "picture.png").write_bytes(bytes.fromhex(PICTURE))
        config = Path(home) / "openclaw.json"
        config.write_text(json.dumps(_config(server.server_port)))
        path = f"{HERE}/node_modules/.bin:{HERE}/node/bin:{os.environ['PATH']}"
        quiet = dict.fromkeys(("OPENCLAW_OFFLINE", "OPENCLAW_NO_AUTO_UPDATE", "CI", "NO_COLOR"), "1")
        done = subprocess.run(
            ["openclaw", "agent", "exec", "--config", config, "--json", "What is picture.png?"],
            cwd=home, capture_output=True, text=True, check=False,
            env={"PATH": path, "HOME": home, "NODE_COMPILE_CACHE": f"{HERE}/warm", **quiet},
        )  # fmt: skip
    if done.returncode or json.loads(done.stdout)["final"] != "ready":
        sys.exit(f"OpenClaw does not run: {done.stdout}\n{done.stderr}")


def _call(number: int, name: str, arguments: dict[str, str]) -> dict[str, object]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": number, "id": f"c{number}", "type": "function", "function": function}


def _config(port: int) -> dict[str, object]:
    cost = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    model = {
        "id": "m", "name": "m", "reasoning": False, "input": ["text", "image"], "cost": cost,
        "contextWindow": 32768, "maxTokens": 4096,
    }  # fmt: skip
    provider = {"baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "none", "api": "openai-completions"}
    named = {"primary": "gateway/m"}
    return {
        "agents": {"defaults": {"model": named, "imageModel": named}},
        "models": {"mode": "replace", "providers": {"gateway": {**provider, "models": [model]}}},
        "mcp": {"servers": {"none": {"command": "false"}}},
    }


if __name__ == "__main__":
    main()
