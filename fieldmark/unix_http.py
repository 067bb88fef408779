"""HTTP/1.1 over a unix socket, one request a connection: as much of it as a gateway's client needs.

`http.client` would import TLS and e-mail, a quarter of the processor time that a worker takes to start.
Not here: redirects, continuations, trailers, compression; a gateway sends none of them.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

MAX_LINE = 65_536
"""Bytes of one line of a reply's head."""
MAX_HEADERS = 200


class Reply(NamedTuple):
    """A whole reply; the names of `headers` are in lower case, of several alike the last counts."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def exchange(
    path: str, method: str, route: str, headers: Mapping[str, str], body: bytes | None, timeout: float | None
) -> Reply:
    """Send one request and read its reply. `timeout` is of each read and write, in seconds; None waits.

    OSError: nobody listens, or goes away before the end, or the reply is no HTTP.
    """
    lines = {"Host": "gateway", "Connection": "close", **headers}
    if body is not None:
        lines["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)  # before the timeout: with one, a full backlog fails at once (EAGAIN)
        connection.settimeout(timeout)
        connection.sendall(f"{method} {route} HTTP/1.1\r\n{head}\r\n".encode("ascii"))
        if body:
            connection.sendall(body)
        with connection.makefile("rb") as reader:
            try:
                return _read(reader)
            except ValueError as error:
                raise ConnectionError(f"the reply is no HTTP: {error}") from None


def _read(reader: BinaryIO) -> Reply:
    version, status = _line(reader).split(b" ", 2)[:2]
    if not version.startswith(b"HTTP/1."):
        raise ValueError(f"it begins with {version[:20]!r}")
    headers = {}
    while line := _line(reader):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
        if len(headers) > MAX_HEADERS:
            raise ValueError(f"over {MAX_HEADERS} headers")
    return Reply(int(status), headers, _body(reader, headers))


def _body(reader: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return b"".join(_chunks(reader))
    if "content-length" in headers:
        return _exactly(reader, int(headers["content-length"]))
    return reader.read()


def _chunks(reader: BinaryIO) -> Iterator[bytes]:
    while size := int(_line(reader).partition(b";")[0], 16):
        yield _exactly(reader, size)
        _line(reader)


def _line(reader: BinaryIO) -> bytes:
    """A line without its end; ConnectionError when there is none, ValueError when it is too long."""
    line = reader.readline(MAX_LINE)
    if not line.endswith(b"\n"):
        if len(line) < MAX_LINE:
            raise ConnectionError("it closed the connection")
        raise ValueError(f"a line of over {MAX_LINE} bytes")
    return line.rstrip(b"\r\n")


def _exactly(reader: BinaryIO, size: int) -> bytes:
    if size < 0:
        raise ValueError(f"a length of {size}")
    data = reader.read(size)
    if len(data) != size:
        raise ConnectionError(f"it broke off after {len(data)} of {size} bytes")
    return data
