"""The request behind an event of a model call: to the byte, and as a curl command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir, episode_key
from fieldmark.sandbox.gateway.endpoint import endpoint
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import rebuild, stored_text
from fieldmark.trace import Event, ModelRequest, ModelResponse

_NO_URL = "http://localhost:8000/v1"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HTTP = re.compile(r"https?://")


def request_of(events: Sequence[Event], event: Event) -> ModelRequest | None:
    """The request of a model event; None for another kind of event."""
    if isinstance(event, ModelRequest):
        return event
    if not isinstance(event, ModelResponse):
        return None
    asked = [each for each in events if isinstance(each, ModelRequest) and each.call == event.call]
    before = [each for each in asked if each.seq < event.seq]
    return before[-1] if before else None


def as_received(request: ModelRequest, folder: RunDir) -> bytes:
    """What came from the agent. UsageError: its blobs are not in this copy of the run."""
    try:
        return rebuild(request, folder.blob_store())
    except (KeyError, OSError):
        raise _gone(request, folder) from None


def without_pictures(request: ModelRequest, folder: RunDir) -> str:
    """The same with `blob:<sha256>` in place of each picture. UsageError: as above."""
    try:
        return stored_text(request, folder.blob_store())
    except (KeyError, OSError):
        raise _gone(request, folder) from None


def curl(request: ModelRequest, folder: RunDir, record: EpisodeRecord, beside: Path) -> str:
    """Write the request as received into the folder `beside`, and the command that sends it.

    The key is named by its variable. run.json may be a stranger's, and the command goes to a shell: what is
    no name of a variable or no address is not taken. UsageError: another file is there already.
    """
    file = beside / f"{episode_key(*record.key)}-event-{request.seq}.json"
    data = as_received(request, folder)
    try:
        if file.exists() and file.read_bytes() != data:
            raise UsageError(f"{file} is there already and holds something else: move it away")
        file.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}: go to a folder of yours") from None
    model = _model(folder.config(), request.role)
    wire = format_named(request.wire)
    url = endpoint(_url(model) or _NO_URL, wire.PATH)
    name = str(model.get("key_env") or "")
    key = f"${name if _VARIABLE.fullmatch(name) else 'OPENAI_API_KEY'}"
    own = [f'-H "x-api-key: {key}"', "-H 'anthropic-version: 2023-06-01'"]
    headers = own if wire.NAME == "messages" else [f'-H "Authorization: Bearer {key}"']
    data_file = shlex.quote(f"@{file}")
    parts = [
        f"curl {shlex.quote(url)}",
        "-H 'Content-Type: application/json'",
        *headers,
        f"--data-binary {data_file}",
    ]
    return " \\\n  ".join(parts)


def unlike(request: ModelRequest, folder: RunDir) -> list[str]:
    """In what the command differs from what the run's server got."""
    told = []
    if request.sent:
        told.append(f"the gateway sent these otherwise: {', '.join(sorted(request.sent))}")
    if not _url(_model(folder.config(), request.role)):
        told.append(f"the run names no server for {request.model}: put yours in place of {_NO_URL}")
    return told


def _model(config: dict[str, Any], role: str) -> dict[str, Any]:
    """What run.json says of the model of a role: as asked for and as found."""
    name = "eyes" if role == "eyes" else "model"
    asked = config.get("config")
    parts = (asked.get(name) if isinstance(asked, dict) else None, config.get(name))
    found: dict[str, Any] = {}
    for part in parts:
        found |= {key: value for key, value in part.items() if value} if isinstance(part, dict) else {}
    return found


def _url(model: dict[str, Any]) -> str | None:
    """The model's server, where the run names one."""
    url = model.get("base_url")
    return url if isinstance(url, str) and _HTTP.match(url) else None


def _gone(request: ModelRequest, folder: RunDir) -> UsageError:
    return UsageError(
        f"the request of event {request.seq} is not in {folder.blobs}: restore the blobs of the run"
    )
