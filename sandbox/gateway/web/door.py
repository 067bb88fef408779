"""The web of a run: what may be asked, where the answer comes from, and what is written down of it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

from fieldmark.blobs import BlobStore
from fieldmark.sandbox.gateway.events import MAX_BLOB_BYTES
from fieldmark.sandbox.gateway.web import tls
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.exchange import Exchange, Unreachable, is_text
from fieldmark.sandbox.gateway.web.outward import Outward
from fieldmark.sandbox.gateway.web.policy import Denied, Policy, Target
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.trace import By

Mode = Literal["offline", "replay", "record", "live"]
MODES: tuple[Mode, ...] = get_args(Mode)
GOES_OUT: frozenset[Mode] = frozenset({"record", "live"})
MAX_REDIRECTS = 5
MAX_REQUESTS = 5_000
"""Of one episode; the rest is refused without an event, so that no program fills the trace."""
SHOWN_URL = 2_000
"""Characters of a URL in an event."""

Decision = Literal["allowed", "denied", "replayed", "missed"]


class Missed(Exception):
    """Nothing may go out, and the page is neither on the site nor in the archive."""


class Ledger(Protocol):
    """Who asks, and where it is written down: a Session."""

    counts: dict[str, int]
    blob_bytes: int

    @property
    def blobs(self) -> BlobStore | None: ...

    def log(self, by: By, kind: str, **fields: Any) -> int: ...


class WebDoor:
    """Shared by the episodes of a run; each request is logged in the session that made it.

    The site answers for its hosts in every mode. Else `offline` and `replay` answer from the archive (replay
    insists on one), `record` asks the web and archives what comes, `live` only asks.
    """

    def __init__(
        self,
        mode: Mode,
        policy: Policy,
        *,
        site: Site | None = None,
        archive: Archive | None = None,
        outward: Outward | None = None,
    ) -> None:
        self.mode = mode
        self.policy = policy
        self.site = site
        self.archive = archive
        self._outward = outward or Outward(policy)

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """The run's own end of TLS, for browsers."""
        return tls.server_context()

    @property
    def offers(self) -> bool:
        """Whether there is anything to open at all."""
        return self.mode in GOES_OUT or self.site is not None or self.archive is not None

    async def fetch(self, session: Ledger, url: str) -> Exchange:
        """GET, redirects followed, each hop checked and logged. Its `url` is the last one."""
        for _ in range(MAX_REDIRECTS + 1):
            exchange = await self.exchange(session, "GET", url)
            if exchange.location is None:
                return exchange
            url = exchange.location
        raise Unreachable(f"over {MAX_REDIRECTS} redirects, the last to {url[:200]}")

    async def exchange(
        self, session: Ledger, method: str, url: str, headers: Mapping[str, str] | None = None
    ) -> Exchange:
        """One request, logged whatever becomes of it. Raises Denied, Missed, Unreachable."""
        log = _Log(session, method, url)
        try:
            if session.counts.get("web_requests", 0) >= MAX_REQUESTS:
                raise Denied(f"this episode has made {MAX_REQUESTS} web requests")
            target = self.policy.check(url)
            log.url(target.url)
            exchange, decision, reason = await self._answer(method, target, headers)
            blob = _keep(session, exchange)
        except Denied as denied:
            log.write("denied", 403, str(denied), count="web_guarded" if denied.guarded else "web_denied")
            raise
        except Missed as missed:
            log.write("missed", 504, str(missed), count="web_missed")
            raise
        except Unreachable as failure:
            log.write("allowed", 504 if failure.timed_out else 502, str(failure), count="web_failed")
            raise
        log.write(decision, exchange.http, reason, size=len(exchange.body), blob=blob)
        return exchange

    def describe(self) -> dict[str, Any]:
        """For run.json: the mode, the lists, and hashes of what pages come from."""
        told: dict[str, Any] = {"mode": self.mode}
        for name in ("allow", "deny", "guard", "allow_local"):
            if getattr(self.policy, name):
                told[name] = sorted(getattr(self.policy, name))
        if self.site is not None:
            told["site"] = {"path": str(self.site.folder), "sha256": self.site.sha256()}
        if self.archive is not None:
            kept = {"path": str(self.archive.folder), "rows": len(self.archive)}
            told["archive"] = {**kept, "sha256": self.archive.sha256()}
        return told

    def uses(self) -> dict[str, Any]:
        """How the archive answered since this process began."""
        if self.archive is None:
            return {}
        uses = self.archive.uses
        row = {"hits": uses.hits, "misses": uses.misses, "recorded": uses.recorded}
        return {"uses": {**row, "missing": dict(uses.missing)}}

    def uses_line(self) -> str:
        """`uses` for a person, in one line; "" without an archive."""
        if self.archive is None:
            return ""
        uses = self.archive.uses
        if self.mode == "record":
            return f"web archive: {uses.recorded} pages recorded in {self.archive.folder}"
        first = next(iter(uses.missing), "")
        missing = f" ({len(uses.missing)} URLs, the first {first[:100]})" if first else ""
        return f"web archive: {uses.hits} hits, {uses.misses} misses{missing}"

    async def _answer(
        self, method: str, target: Target, headers: Mapping[str, str] | None
    ) -> tuple[Exchange, Decision, str | None]:
        if self.site is not None and target.host in self.site:
            return self.site.get(target), "replayed", "site"
        if self.mode in GOES_OUT:
            exchange = await self._outward.send(method, target, headers)
            if self.mode == "record" and self.archive is not None and method != "HEAD":
                self.archive.put(method, exchange)
            return exchange, "allowed", "truncated" if exchange.truncated else None
        kept = self.archive.get(method, target.url) if self.archive is not None else None
        if kept is None:
            raise Missed(f"this run is {self.mode} and {target.url[:200]} is not among its recorded pages")
        return kept, "replayed", "archive"


class _Log:
    """Writes the one egress event of a request."""

    def __init__(self, session: Ledger, method: str, url: str) -> None:
        self._session = session
        self._fields: dict[str, Any] = {"method": method[:20], "url": url[:SHOWN_URL]}

    def url(self, normal: str) -> None:
        """The URL that is really asked for."""
        self._fields["url"] = normal[:SHOWN_URL]

    def write(
        self, decision: Decision, http: int, reason: str | None, *,
        size: int = 0, blob: str | None = None, count: str = "web_pages",
    ) -> None:  # fmt: skip
        counts = self._session.counts
        for name in (count, "web_requests"):
            counts[name] = counts.get(name, 0) + 1
        over = counts["web_requests"] - MAX_REQUESTS
        if over == 1:
            message = f"over {MAX_REQUESTS} web requests; the rest is refused"
            self._session.log("gateway", "log", level="warning", message=message)
        if over > 0:
            return
        self._session.log(
            "gateway",
            "egress",
            **self._fields,
            http=http,
            bytes=size,
            decision=decision,
            reason=reason,
            blob=blob,
        )


def deny(session: Ledger, method: str, url: str, reason: str) -> None:
    """Log a request that is refused before anyone looks where it would go."""
    _Log(session, method, url).write("denied", 403, reason, count="web_denied")


def _keep(session: Ledger, exchange: Exchange) -> str | None:
    """Store a body with the run; UTF-8 text compressed. Denied when the episode has stored too much."""
    body = exchange.body
    if not body or session.blobs is None:
        return None
    if session.blob_bytes + len(body) > MAX_BLOB_BYTES:
        raise Denied(f"this episode has opened over {MAX_BLOB_BYTES // 10**6} MB of pages")
    session.blob_bytes += len(body)
    if is_text(exchange.media_type):
        try:
            return session.blobs.put_text(body.decode())
        except UnicodeDecodeError:
            pass
    return session.blobs.put(body, exchange.plain_type)
