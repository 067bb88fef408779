"""What a run folder from elsewhere may use here: only what this user has named on this machine before.

A folder names servers, the variables that hold their keys, and Python files. Whoever wrote it could name a
server of his own beside your key, or a file of his own as the judge. So each command that goes on with what a
folder says asks here first; what a user names by an option or a TOML file is remembered, without any key.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from fieldmark.config import REPLAY, RunConfig
from fieldmark.errors import UsageError
from fieldmark.model_config import DEFAULT_KEY_ENV, AskedConfig, ClassifierConfig, JudgeConfig, ModelConfig
from fieldmark.user_file import is_file_name

SERPAPI = "https://serpapi.com"
_PORTS = {"http": 80, "https": 443}


def named_by_run(config: RunConfig) -> list[str]:
    """What a run would send a key to, run on the host, or read prompts from; each in the words for a user."""
    asked = (config.model, config.eyes, config.judge, config.classifier)
    found = [line for each in asked if each for line in _named_by(each)]
    if config.reverse == "serpapi" or (config.search or "").startswith("serpapi"):
        found += _key_sent(SERPAPI, config.serpapi_key_env)
    files = [*([Path(config.agent)] if is_file_name(config.agent) else []), *config.tool]
    return [*found, *(_file(path) for path in files)]


def named_by_asked(settings: JudgeConfig | ClassifierConfig) -> list[str]:
    """The same of a judge or a classifier."""
    return list(_named_by(settings))


def remember(named: Iterable[str]) -> None:
    """The user has named these. Where it cannot be kept, they have to be named again another time."""
    new = [line for line in dict.fromkeys(named) if line not in _remembered()]
    if not new:
        return
    with contextlib.suppress(OSError):
        place = _place()
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
            file.write("".join(f"{line}\n" for line in new))


def check(folder: Path, named: Iterable[str], *, trust: bool) -> None:
    """UsageError, naming the first, where a folder names what its user has not. `trust`: he says so now."""
    if trust:
        remember(named)
        return
    known = _remembered()
    for line in named:
        if line not in known:
            raise UsageError(
                f"{folder} would use {line}, which you have not named on this machine: "
                "if you know it, add --trust; else name your own by options"
            )


def _named_by(asked: ModelConfig | AskedConfig) -> Iterator[str]:
    if _is_served(asked):
        yield from _key_sent(asked.base_url, asked.key_env)
    if isinstance(asked, JudgeConfig) and is_file_name(asked.name):
        yield _file(Path(asked.name))
    if isinstance(asked, JudgeConfig) and asked.siglip:
        yield f"the weights {_plain(asked.siglip)}"
    if isinstance(asked, AskedConfig) and asked.prompts:
        yield f"the prompts in {_plain(str(asked.prompts.resolve()))}"


def _is_served(asked: ModelConfig | AskedConfig) -> bool:
    if isinstance(asked, ModelConfig):
        return not asked.name.startswith(("builtin/", REPLAY))
    return not isinstance(asked, JudgeConfig) or asked.name == "llm"


def _key_sent(base_url: str | None, key_env: str) -> list[str]:
    """Nothing where there is no key to be sent. The usual key may go to the environment's own server."""
    own = os.environ.get("OPENAI_BASE_URL")
    url = base_url or own
    if not url or not os.environ.get(key_env) or (url == own and key_env == DEFAULT_KEY_ENV):
        return []
    return [f"${_plain(key_env)} as the key for {_origin(url)}"]


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return _plain(url)
    return _plain(f"{parts.scheme}://{parts.hostname}:{port}")


def _file(path: Path) -> str:
    return f"the Python file {_plain(str(path.resolve()))}"


def _plain(text: str) -> str:
    """One line, whatever was written."""
    return text if text.isprintable() else repr(text)


def _place() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "fieldmark" / "named"


def _remembered() -> set[str]:
    try:
        return set(_place().read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return set()
