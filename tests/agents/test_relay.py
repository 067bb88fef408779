"""The relay between 127.0.0.1 and a unix socket: bodies, half-close, many at once, a port that is taken."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from fieldmark.agents.relay import start_relay


class _Echo(socketserver.BaseRequestHandler):
    """Answers only after the other side has finished: `<n> bytes`, then the bytes."""

    def handle(self) -> None:
        data = b""
        while chunk := self.request.recv(65536):
            data += chunk
        with suppress(BrokenPipeError):
            self.request.sendall(b"%d bytes\n" % len(data) + data)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    path = tmp_path_factory.mktemp("s") / "e.sock"
    with _Server(str(path), _Echo) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield start_relay(str(path), free_port())
        server.shutdown()


def exchange(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        sender = threading.Thread(target=_send, args=(connection, data))
        sender.start()
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
        sender.join()
    return reply


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def test_half_close_passes_through(port: int) -> None:
    assert exchange(port, b"hello") == b"5 bytes\nhello"


def test_big_bodies(port: int) -> None:
    data = bytes(range(256)) * 65536  # 16 MB
    assert exchange(port, data) == b"16777216 bytes\n" + data


def test_many_connections_at_once(port: int) -> None:
    with ThreadPoolExecutor(64) as pool:
        replies = list(pool.map(lambda n: exchange(port, b"x" * n), range(400)))
    assert replies == [b"%d bytes\n" % n + b"x" * n for n in range(400)]


def test_a_client_that_breaks_off_harms_nobody(port: int) -> None:
    for _ in range(20):
        rude = socket.create_connection(("127.0.0.1", port))
        rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        rude.sendall(b"half a requ")
        rude.close()
    assert exchange(port, b"polite") == b"6 bytes\npolite"


def test_a_taken_port_is_reported_and_survived(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert start_relay("/nowhere", port) == 0
    assert "cannot listen" in capfd.readouterr().err
    assert exchange(port, b"still") == b"5 bytes\nstill"


def test_no_gateway_behind_it_closes_the_connection() -> None:
    port = start_relay("/tmp/fieldmark-no-such-socket", free_port())
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        assert connection.recv(10) == b""


def test_zero_is_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIELDMARK_RELAY_PORT", "0")
    assert start_relay(str(tmp_path / "g.sock")) == 0
