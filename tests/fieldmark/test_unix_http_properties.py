"""Whatever comes over the socket is a whole reply, or one kind of error."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fieldmark.unix_http import exchange

PARTS = st.sampled_from([
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 502 Bad\r\n\r\n", b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n\r\n", b"\r\n", b"\n", b"5\r\nhello\r\n0\r\n\r\n",
    b"0\r\n\r\n", b"ffffffff\r\n", b"-1\r\n\r\n",
])  # fmt: skip


@given(st.lists(PARTS | st.binary(max_size=20), max_size=8).map(b"".join))
def test_any_bytes_are_a_reply_or_a_lost_connection(said: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path := str(Path(folder) / "s"))
        listener.listen()
        thread = threading.Thread(target=_say, args=(listener, said))
        thread.start()
        with contextlib.suppress(OSError):
            reply = exchange(path, "GET", "/", {}, None, 5)
            assert reply.body in said or b"chunked" in said
        thread.join()


def _say(listener: socket.socket, said: bytes) -> None:
    with listener.accept()[0] as peer:
        peer.sendall(said)
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(65_536):  # what was asked: unread, it would reset the connection
            pass
