"""The web of a run: what may be asked, where the answer comes from, and what is written down of it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

from fieldmark.sandbox.gateway.replies import Refused
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
"""Of one episode."""
SHOWN_URL = 2_000
"""Characters of a URL in an event."""

Decision = Literal["allowed", "denied", "replayed", "missed"]


class Missed(Exception):
    """Nothing may go out, and the page is neither on the site nor in the archive."""


class Store(Protocol):
    """Where bodies are kept, within the episode's allowance. Refused (413) beyond it."""

    def put(self, data: bytes, media_type: str) -> str: ...

    def put_text(self, text: str) -> str: ...


class Ledger(Protocol):
    """Who asks, and where it is written down: a Session."""

    counts: dict[str, int]

    @property
    def blobs(self) -> Store | None: ...

    def log(self, by: By, kind: str, fields: dict[str, Any]) -> int: ...

    def note_denied(self, method: str, url: str, reason: str) -> None: ...


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
            if session.counts["web_requests"] > MAX_REQUESTS:
                raise Denied(f"this episode has made {MAX_REQUESTS} web requests")
            target = self.policy.check(url)
            log.url(target.url)
            exchange, decision, reason = await self._answer(method, target, headers)
            blob = _keep(session, exchange)
        except Denied as denied:
            log.denied(denied)
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
            told["site"] = {"name": self.site.folder.name, "sha256": self.site.sha256()}
        if self.archive is not None:
            kept = {"name": self.archive.folder.name, "rows": len(self.archive)}
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
            return f"web archive: {uses.recorded} replies recorded in {self.archive.folder}"
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
        self._method = method[:20]
        self.url(url)
        self._count("web_requests")

    def url(self, normal: str) -> None:
        """The URL that is really asked for."""
        self._url = normal[:SHOWN_URL]

    def denied(self, denied: Denied) -> None:
        if denied.guarded:
            self._count("web_guarded")
        self._session.note_denied(self._method, self._url, str(denied))

    def write(
        self,
        decision: Decision,
        http: int,
        reason: str | None,
        *,
        size: int = 0,
        blob: str | None = None,
        count: str = "web_pages",
    ) -> None:
        self._count(count)
        self._session.log(
            "gateway",
            "egress",
            {
                "method": self._method,
                "url": self._url,
                "http": http,
                "bytes": size,
                "decision": decision,
                "reason": reason,
                "blob": blob,
            },
        )

    def _count(self, name: str) -> None:
        self._session.counts[name] = self._session.counts.get(name, 0) + 1


def _keep(session: Ledger, exchange: Exchange) -> str | None:
    """Store a body with the run; UTF-8 text compressed. Denied when the episode has stored too much."""
    body, store = exchange.body, session.blobs
    if not body or store is None:
        return None
    try:
        text = body.decode() if is_text(exchange.media_type) else None
    except UnicodeDecodeError:
        text = None
    try:
        return store.put(body, exchange.plain_type) if text is None else store.put_text(text)
    except Refused as refused:
        raise Denied(str(refused)) from None
