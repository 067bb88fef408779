"""One search: answered from the archive or by SerpApi, recorded, written down, and what its failure means."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fieldmark.errors import SearchFault, ToolError, ToolErrorKind
from fieldmark.sandbox.gateway.search.serpapi import FailureKind, SearchFailed
from fieldmark.sandbox.gateway.web.door import GOES_OUT, SHOWN_URL, Decision, Ledger, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Exchange

SEARCH, LENS, UPLOAD = "SEARCH", "LENS", "UPLOAD"
"""Methods of searches in events and archives, beside those of HTTP."""
MAX_SEARCHES = 100
"""Of one episode."""
DOWN = 3
"""Failed searches in a row, over all episodes: SerpApi is down, and it is no longer one query's bad luck."""

_STOPS: dict[FailureKind, str] = {
    "quota": "the searches of the account are used up",
    "invalid_key": "the key is refused",
    "bad_engine": "the engine of --search cannot be asked",
}
_TOLD: dict[FailureKind, tuple[ToolErrorKind, str]] = {
    "rate_limit": ("unavailable", "the search service limits the rate of searches: try again later"),
    "timeout": ("timeout", "the search took too long"),
    "malformed": ("unavailable", "the search service gave an answer that cannot be read"),
    "unreachable": ("unavailable", "the search service cannot be reached"),
    "no_answer": ("unavailable", "the search engine gave no valid answer: try other words"),
    "refused": ("invalid_args", "the search service refused these words"),
}
Send = Callable[[], Coroutine[Any, Any, dict[str, Any]]]


@dataclass(frozen=True)
class Question:
    """What is asked of SerpApi; `params` without key and picture ids, so that a replay asks the same."""

    method: str
    params: dict[str, str]

    @property
    def url(self) -> str:
        return f"https://serpapi.com/search?{urlencode(sorted(self.params.items()))}"


class Asker:
    """Shared by the episodes of a run. `stopped` is the failure after which nothing is asked any more."""

    def __init__(self, web: WebDoor) -> None:
        self.stopped: FailureKind | None = None
        self._web = web
        self._failed_in_a_row = 0

    @property
    def goes_out(self) -> bool:
        return self._web.mode in GOES_OUT

    async def ask(self, session: Ledger, question: Question, send: Send) -> dict[str, Any]:
        """The reply to a question; `send` asks SerpApi. Logged in the session whatever becomes of it.

        ToolError: this search failed. SearchFault: no search will do.
        """
        if not self.goes_out:
            return self._recorded(session, question)
        if self.stopped:
            raise _fault(self.stopped, "no search is sent any more in this run")
        try:
            reply = await send()
        except SearchFailed as failure:
            http = failure.http or (504 if failure.kind == "timeout" else 502)
            write(session, question.method, question.url, "allowed", http, f"{failure.kind}: {failure}")
            raise self._meaning(session, failure) from None
        self._failed_in_a_row = 0
        body = json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")
        if self._web.mode == "record" and self._web.archive is not None:
            self._web.archive.put(question.method, Exchange(question.url, 200, "application/json", body))
        _write_reply(session, question, "allowed", body)
        return reply

    def _recorded(self, session: Ledger, question: Question) -> dict[str, Any]:
        archive = self._web.archive
        kept = archive.get(question.method, question.url) if archive is not None else None
        reply = _parsed(kept.body) if kept else None
        if kept is None or reply is None:
            count(session, "searches_missed")
            write(session, question.method, question.url, "missed", 504, "not among the recorded searches")
            what = "this search" if question.method == SEARCH else "a search for this picture or box"
            raise ToolError(f"this run is {self._web.mode} and {what} was not recorded", "unavailable")
        _write_reply(session, question, "replayed", kept.body)
        return reply

    def _meaning(self, session: Ledger, failure: SearchFailed) -> ToolError | SearchFault:
        """What the model is told; a fault of the run's or of SerpApi's where asking on makes no sense."""
        count(session, "searches_failed")
        if failure.kind in _STOPS:
            self.stopped = failure.kind
            return _fault(failure.kind, str(failure))
        if failure.kind != "refused":
            self._failed_in_a_row += 1
        if self._failed_in_a_row >= DOWN:
            return _fault(failure.kind, f"{failure} ({self._failed_in_a_row} searches in a row failed)")
        kind, words = _TOLD[failure.kind]
        return ToolError(f"{words} ({failure})", kind)


def _fault(kind: FailureKind, message: str) -> SearchFault:
    about = f"{_STOPS[kind]} ({message})" if kind in _STOPS else message
    return SearchFault(f"SerpApi: {about}"[:400], kind=kind, stops_run=kind in _STOPS)


def write(
    session: Ledger, method: str, url: str, decision: Decision, http: int, reason: str | None = None,
    *, size: int = 0, blob: str | None = None,
) -> None:  # fmt: skip
    """The one egress event of a search."""
    session.log(
        "gateway",
        "egress",
        {"method": method, "url": url[:SHOWN_URL], "http": http, "bytes": size, "decision": decision,
         "reason": reason, "blob": blob},
    )  # fmt: skip


def begin(session: Ledger) -> None:
    """Count a search that an episode asks for. ToolError beyond MAX_SEARCHES: each may cost money."""
    if session.counts.get("searches", 0) >= MAX_SEARCHES:
        raise ToolError(f"this episode has made {MAX_SEARCHES} searches: answer with what is known", "denied")
    count(session, "searches")


def count(session: Ledger, name: str, more: int = 1) -> None:
    """Add to a count of the episode."""
    session.counts[name] = session.counts.get(name, 0) + more


def _write_reply(session: Ledger, question: Question, decision: Decision, body: bytes) -> None:
    blob = session.blobs.put_text(body.decode()) if session.blobs is not None else None
    reason = "archive" if decision == "replayed" else None
    write(session, question.method, question.url, decision, 200, reason, size=len(body), blob=blob)


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        reply = json.loads(body)
    except ValueError:
        return None
    return reply if isinstance(reply, dict) else None
