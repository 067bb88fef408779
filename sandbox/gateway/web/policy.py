"""Where a run may go on the web. Every URL, every redirect hop and every DNS answer is asked about here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote

import idna
from yarl import URL

from fieldmark.sandbox.gateway.web import addresses

MAX_URL = 4_000
"""Characters of a URL."""
GUARDED = "guarded: record of a source dataset"

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+")
_BEFORE_HOST = re.compile(r"^(https?://)?(\*\.)?")
_LOCAL_NAMES = (
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "localdomain",
    "corp",
)
_WEB_PORTS = (80, 443)
_FIRST_FREE_PORT = 1024


class Denied(Exception):
    """The policy refuses a URL; the message is the reason. `guarded`: it is on the benchmark's guard list."""

    def __init__(self, reason: str, *, guarded: bool = False) -> None:
        super().__init__(reason)
        self.guarded = guarded


@dataclass(frozen=True)
class Target:
    """A URL that passed. `url` is its one normal form: what is requested, recorded and looked up."""

    url: str
    scheme: str
    host: str
    port: int
    local: bool = False

    @property
    def authority(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Policy:
    """`allow` (empty: every public host), `deny` and `guard` are patterns: `host` or `host/path`, each with
    its subdomains. `allow_local`: `host:port` that may be reached although not public, for tests alone.
    """

    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    guard: Sequence[str] = ()
    allow_local: frozenset[str] = field(default_factory=frozenset)

    def check(self, text: str) -> Target:
        """The target of a URL as someone wrote it; Denied says why not. Nothing is resolved or sent."""
        target = self._parsed(text)
        if not target.local:
            _refuse_local(target)
        if _first(self.guard, target) or _embedded(self.guard, target):
            raise Denied(GUARDED, guarded=True)
        denied = _first(self.deny, target)
        if denied:
            raise Denied(f"the run denies {denied}")
        if self.allow and not target.local and not _first(self.allow, target):
            raise Denied(f"{target.host} is not among the hosts that the run allows")
        return target

    def check_answers(self, target: Target, answers: Iterable[str]) -> list[str]:
        """The addresses a name resolved to, all of them public; Denied for the first that is not."""
        found = list(dict.fromkeys(answers))
        for answer in found if not target.local else ():
            why = addresses.trouble(ip_address(answer))
            if why:
                raise Denied(f"{target.host} resolves to {answer}, {why}")
        return found

    def _parsed(self, text: str) -> Target:
        if len(text) > MAX_URL:
            raise Denied(f"the URL has over {MAX_URL} characters")
        if any(c.isspace() or not c.isprintable() or c == "\\" for c in text):
            raise Denied("the URL holds a blank, a control character or a backslash")
        scheme = _SCHEME.match(text)
        if not scheme or scheme[1].lower() not in ("http", "https"):
            raise Denied(f"only http:// and https:// URLs are fetched, not {text[:40]!r}")
        try:
            url = URL(text).with_fragment(None)
            host, port = _plain_host(url.raw_host or ""), url.port
            if "@" in url.raw_authority or url.raw_user is not None or url.raw_password is not None:
                raise Denied("the URL holds a user name or password")
            url = url.with_host(host)
            if url.raw_path in ("", "/"):
                url = url.with_path("/", keep_query=True)
        except ValueError as error:
            raise Denied(f"the URL cannot be read: {error}") from None
        if port is None or not 0 < port < 65536 or url.raw_host != host:
            raise Denied("the URL cannot be read: no host and port")
        local = f"{host}:{port}" in self.allow_local
        if not local and port not in _WEB_PORTS and port < _FIRST_FREE_PORT:
            raise Denied(f"port {port} is not one of the web")
        return Target(str(url), url.scheme, host, port, local)


def matches(pattern: str, host: str, path: str = "/") -> bool:
    """Whether `host` or `host/path` names this host (or one above it) and a folder of this path."""
    named, _, folder = _BEFORE_HOST.sub("", pattern.lower()).partition("/")
    if host != named and not host.endswith(f".{named}"):
        return False
    folder, path = f"/{folder.strip('/')}", unquote(path).lower()
    return folder == "/" or path == folder or path.startswith(f"{folder}/")


def _first(patterns: Sequence[str], target: Target) -> str | None:
    path = URL(target.url).raw_path
    return next((pattern for pattern in patterns if matches(pattern, target.host, path)), None)


def _embedded(patterns: Sequence[str], target: Target) -> bool:
    """Whether the URL carries a guarded one inside itself, as archives and translators of pages do."""
    inner = re.findall(r"https?:/{1,2}([^/?#&\s]+)([^?#&\s]*)", unquote(URL(target.url).raw_path_qs).lower())
    return any(matches(pattern, host, path or "/") for pattern in patterns for host, path in inner)


def _plain_host(host: str) -> str:
    """Lower case, one form of Unicode, Punycode; ValueError when it is no host."""
    plain = unicodedata.normalize("NFKC", unquote(host)).lower().rstrip(".")
    if not plain.isascii():
        plain = idna.encode(plain, uts46=True).decode()
    if not plain or (":" not in plain and not re.fullmatch(r"[a-z0-9_.-]+", plain)):
        raise ValueError(f"{host!r} is not a host name")
    return plain


def _refuse_local(target: Target) -> None:
    """Names and addresses that lead into this machine or its network."""
    host = target.host
    try:
        address = addresses.literal(host)
    except ValueError as error:
        raise Denied(str(error)) from None
    if address is not None:
        why = addresses.trouble(address)
        if why:
            raise Denied(f"{host} is {why}")
        return
    if any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise Denied(f"{host} is a name of this machine or its network")
    if not _HOST.fullmatch(host):
        raise Denied(f"{host} is not the name of a public host")
