"""What an error of a model's server means: try again, stop the run, or let the agent read it."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from fieldmark.errors import ModelFault
from fieldmark.sandbox.gateway.wire import chat
from fieldmark.sandbox.gateway.wire.common import as_dict, as_text
from fieldmark.sandbox.gateway.wire.forcing import LIMITS
from fieldmark.sandbox.gateway.wire.formats import format_of

MAX_WAIT = 300.0
"""A Retry-After of more seconds is not waited for: the run stops, to be resumed then."""
_RETRIED = frozenset({408, 409, 425, 429})
_OVERLOAD = frozenset({429, 503, 504, 529})
_NO_SUCH_PATH = frozenset({404, 405, 501})
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_OF_THE_MODEL = re.compile(r"\W*(?:the )?model\b", re.IGNORECASE)


class Again(Exception):
    """A try that failed in a way worth another try; `after` is the server's Retry-After in seconds.

    `overload`: the server has too much to do, so that fewer requests at once may help.
    """

    def __init__(self, message: str, after: float | None = None, *, overload: bool = False) -> None:
        super().__init__(message)
        self.after = after
        self.overload = overload


@dataclass(frozen=True)
class ServerError:
    """An error reply to a request. `url` is fit to be shown; `forced` are parameters that the run sets."""

    status: int
    url: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    forced: Collection[str] = ()

    def judge(self) -> None:
        """Raises Again or ModelFault; returns when the reply is the agent's to read."""
        status = self.status
        if self._quota_is_used_up():
            raise self._stop("quota", "says that the account's quota is used up")
        if self._no_such_path():
            raise self._stop(str(status), f"answered {status}: it does not speak the {self._title} format")
        if status in (401, 403, 404):
            raise self._stop(str(status), f"answered {status}: check the URL, the model's name and the key")
        if status in _RETRIED or status >= 500:
            raise Again(f"HTTP {status}", self._retry_after(), overload=status in _OVERLOAD)
        if self.refused:
            why = f"refuses the forced parameter {self.refused}: leave it out; it said: {self._message[:200]}"
            raise self._stop("forced", why)

    @property
    def refused(self) -> str | None:
        """The parameter that the run sets and the server does not take, where it says so."""
        names = self.forced if self.status in (400, 422) else ()
        return next((name for name in names if self._refuses(name)), None)

    def _stop(self, kind: str, why: str) -> ModelFault:
        return ModelFault(f"{self.url} {why}", kind=kind, stops_run=True)

    @property
    def _title(self) -> str:
        return format_of(self.path).TITLE

    @property
    def _error(self) -> Any:
        try:
            return as_dict(json.loads(self.body)).get("error")
        except (ValueError, RecursionError):
            return None

    @property
    def _message(self) -> str:
        return as_text(self._error) or as_text(as_dict(self._error).get("message")) or ""

    @property
    def code(self) -> str:
        """The machine word of an error; "" where it has none."""
        return as_text(as_dict(self._error).get("code")) or ""

    def _says(self, *keys: str) -> set[Any]:
        return {as_text(as_dict(self._error).get(key)) for key in keys}

    def _quota_is_used_up(self) -> bool:
        said = self._says("code", "type")
        return self.status == 402 or bool(said & _QUOTA) or "credit balance is too low" in self._message

    def _no_such_path(self) -> bool:
        """Of Chat Completions, which all speak, the URL is doubted first; a 404 can also mean the model."""
        if self.status not in _NO_SUCH_PATH or self.path == chat.PATH:
            return False
        return "model_not_found" not in self._says("code") and not _OF_THE_MODEL.match(self._message)

    def _refuses(self, name: str) -> bool:
        if "context" in self._message:  # too long a conversation is the agent's affair
            return False
        names = LIMITS if name in LIMITS else (name,)
        return bool(self._says("param") & {*names}) or any(
            re.search(rf"\b{re.escape(known)}\b", self._message) for known in names
        )

    def _retry_after(self) -> float | None:
        """Seconds that the server wants no request for. ModelFault when that is too long to wait."""
        after = retry_after(self.headers)
        if after is not None and after > MAX_WAIT:
            raise self._stop("rate_limit", f"answered {self.status} and wants no request for {after:.0f} s")
        return after


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, given as seconds or as a date, which counts by the server's clock."""
    value = headers.get("Retry-After")
    if not value:
        return None
    try:
        seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        date = headers.get("Date")
        now = parsedate_to_datetime(date).timestamp() if date else time.time()
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None
