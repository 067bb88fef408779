"""Real servers on 127.0.0.1 that behave oddly, and a web door that may reach them by the explicit switch."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from fieldmark.sandbox.gateway.web.door import Mode, WebDoor
from fieldmark.sandbox.gateway.web.outward import Outward
from fieldmark.sandbox.gateway.web.policy import Policy

HOST = "guide.test"
PAGE = "<html><head><title>Guide</title></head><body><p>The Saab 340 has two engines.</p></body></html>"
MADE_UP = "93.184.215.14"
"""A public address, for names that no test may reach."""


@dataclass
class OddSite:
    """`http` and `https` are base URLs under the name guide.test; `asked` are the requests that came."""

    port: int
    tls_port: int
    trust: ssl.SSLContext
    asked: list[web.Request] = field(default_factory=list)

    @property
    def http(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def https(self) -> str:
        return f"https://{HOST}:{self.tls_port}"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]


@pytest.fixture
async def odd_site(tmp_path: Path) -> AsyncIterator[OddSite]:
    served, trusted = certificates(tmp_path)
    site = OddSite(0, 0, trusted)

    async def answer(request: web.Request) -> web.StreamResponse:
        site.asked.append(request)
        return await _answer(request)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served).start()
    site.port, site.tls_port = (address[1] for address in runner.addresses)
    yield site
    await runner.cleanup()


async def _answer(request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/page":
            headers = {"Set-Cookie": "a=b", "X-Powered-By": "x", "Content-Language": "en"}
            return web.Response(text=PAGE, content_type="text/html", headers=headers)
        case "/204":
            return web.Response(status=204)
        case "/500":
            return web.Response(status=500, text="broken")
        case "/redirect":
            return web.Response(status=302, headers={"Location": request.query["to"]})
        case "/loop":
            return web.Response(status=302, headers={"Location": "/loop"})
        case "/slow":
            await asyncio.sleep(30)
            return web.Response(text="late")
        case "/download":
            return web.Response(
                body=b"\0" * 4096, content_type="application/octet-stream",
                headers={"Content-Disposition": "attachment; filename=x.bin"},
            )  # fmt: skip
        case "/endless" | "/drip" | "/bomb":
            return await _endless(request)
    return web.Response(status=404, text="no such page")


async def _endless(request: web.Request) -> web.StreamResponse:
    """Never ends: as fast as it is read, a byte now and then, or zeros that compress a thousandfold."""
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    if request.path == "/bomb":
        response.enable_compression()
    await response.prepare(request)
    try:
        while True:
            await response.write(b"." if request.path == "/drip" else b"0" * 100_000)
            await asyncio.sleep(0.05 if request.path == "/drip" else 0)
    except ConnectionError:
        return response


def certificates(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for guide.test, and a client's that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False).sign(key, hashes.SHA256())
    )  # fmt: skip
    file = folder / "server.pem"
    plain = serialization.NoEncryption()
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cafile=str(file))


Names = dict[str, list[str]]
MakeDoor = Callable[..., WebDoor]


@pytest.fixture
def door_to(odd_site: OddSite) -> MakeDoor:
    """`door_to("live", names={"a.example": ["10.0.0.1"]}, deny=[…])`: DNS is what `names` says."""

    def make(
        mode: Mode = "live", *, names: Names | None = None, local: bool = True, seconds: float = 5.0,
        trust: ssl.SSLContext | None = odd_site.trust, archive: Any = None, site: Any = None, **lists: Any,
    ) -> WebDoor:  # fmt: skip
        answers = {HOST: ["127.0.0.1"], **(names or {})}

        async def resolve(host: str, port: int) -> list[str]:
            if host not in answers:
                raise OSError(None, "no such host")
            return answers[host]

        reached = {f"{HOST}:{odd_site.port}", f"{HOST}:{odd_site.tls_port}"} if local else set()
        policy = Policy(allow_local=frozenset(reached), **lists)
        outward = Outward(policy, resolve=resolve, trust=trust, seconds=seconds, max_bytes=1_000_000)
        return WebDoor(mode, policy, archive=archive, site=site, outward=outward)

    return make
