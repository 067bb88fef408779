"""One request over a unix socket: whole replies in each framing, and every way one can break off."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldmark.unix_http import MAX_HEADERS, MAX_LINE, Reply, exchange

Serve = Callable[[bytes], list[bytes]]
"""What is answered at the next connection → the list of requests that came."""


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A server of one connection that says what it is told to, and closes."""
    threads: list[threading.Thread] = []

    def start(said: bytes) -> list[bytes]:
        came: list[bytes] = []
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(tmp_path / "s"))
        listener.listen()

        def work() -> None:
            with listener, listener.accept()[0] as peer:
                came.append(peer.recv(65_536))
                peer.sendall(said)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return came

    yield start
    for thread in threads:
        thread.join(5)


def ask(folder: Path, body: bytes | None = None, timeout: float | None = 5) -> Reply:
    return exchange(str(folder / "s"), "POST", "/route", {"X-Own": "1"}, body, timeout)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Say: a: b\r\n\r\nhellono more",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nX-Say: a: b\n\n2;x=1\r\nhe\r\n3\r\nllo\r\n0\r\n",
        b"HTTP/1.0 200 OK\r\nX-Say: a: b\r\n\r\nhello",
        b"HTTP/1.1 200\nx-say:a: b\n\nhello",
    ],
    ids=["length", "chunked", "closed", "bare"],
)
def test_a_whole_reply_in_each_framing(serve: Serve, tmp_path: Path, said: bytes) -> None:
    serve(said)
    reply = ask(tmp_path)
    assert (reply.status, reply.headers["x-say"], reply.body) == (200, "a: b", b"hello")


def test_the_request_is_http(serve: Serve, tmp_path: Path) -> None:
    came = serve(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert ask(tmp_path, b"").body == b""
    lines = came[0].split(b"\r\n")
    assert lines[0] == b"POST /route HTTP/1.1"
    assert {b"Host: gateway", b"Connection: close", b"X-Own: 1", b"Content-Length: 0"} <= set(lines)
    assert came[0].endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "broke off after 5 of 9 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "broke off after 3 of 5 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 two OK\r\n\r\n", "no HTTP"),
        (b"220 mail.example ESMTP\r\n", "no HTTP"),
        (b"HTTP/1.1\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 " + b"x" * MAX_LINE, "no HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"a%d: 1\r\n" % n for n in range(MAX_HEADERS + 1)), "no HTTP"),
    ],
)
def test_what_breaks_off_or_is_no_http_is_an_oserror(
    serve: Serve, tmp_path: Path, said: bytes, why: str
) -> None:
    serve(said)
    with pytest.raises(OSError, match=why):
        ask(tmp_path)


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ask(tmp_path)


def test_a_server_that_says_nothing_is_waited_for_so_long(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with pytest.raises(TimeoutError):
            ask(tmp_path, timeout=0.05)
