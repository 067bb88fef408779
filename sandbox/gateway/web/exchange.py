"""One request and what came back of it: the unit that is fetched, recorded and replayed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

KEPT_HEADERS = (
    "content-disposition",
    "content-language",
    "content-security-policy",
    "last-modified",
    "access-control-allow-origin",
    "access-control-allow-headers",
    "access-control-allow-credentials",
)
"""What is kept of a reply's headers beside its type and `location`; cookies never are."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Exchange:
    """The reply to one request, redirects not followed. `url` and `location` are absolute.

    `media_type` is the whole Content-Type as sent, "" when there was none; `truncated`: the body is only
    the beginning of what was sent.
    """

    url: str
    http: int
    media_type: str = ""
    body: bytes = b""
    location: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False

    @property
    def plain_type(self) -> str:
        """The media type alone, in lower case."""
        return self.media_type.partition(";")[0].strip().lower()


class Unreachable(Exception):
    """A server could not be reached, or broke off; `timed_out` when it was too slow."""

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


def is_text(media_type: str) -> bool:
    """Whether a body of this type is text, whatever its encoding."""
    return bool(re.match(r"text/|application/(.*[+.])?(json|xml|javascript|xhtml)", media_type.lower()))
