"""The errors of fieldmark, named after the boundary that broke.

    FieldmarkError
    ├── UsageError            the user's input: bad flag, file, name (exit code 2, one line with a remedy)
    ├── InterruptedRun        the run stopped early and can be resumed (exit code 1)
    ├── EpisodeFault          something other than the agent broke one episode -> status `sandbox_error`
    │   ├── SandboxFault      boundary "sandbox": container, engine, image
    │   ├── ModelFault        boundary "model": the upstream stayed down or refused our credentials
    │   ├── GatewayFault      boundary "gateway"
    │   ├── SearchFault       boundary "search": a look-up backend or its quota
    │   ├── DataFault         boundary "data": a picture or task that cannot be used
    │   └── HostFault         boundary "host": disk, memory, operating system
    └── ToolError             a tool could not do its job; told to the model, never raised past it

An EpisodeFault is data, not a crash: `fieldmark.episode` catches it in one place.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Boundary = Literal["agent", "model", "sandbox", "gateway", "search", "data", "host"]
ToolErrorKind = Literal["not_found", "invalid_args", "denied", "timeout", "unavailable", "runtime"]


class FieldmarkError(Exception):
    """Root of everything fieldmark raises on purpose."""


class UsageError(FieldmarkError):
    """The user's input is wrong. The message is one line: what is wrong, and what to do."""


class InterruptedRun(FieldmarkError):
    """A run stopped before its last task; finished episodes are safe and `--resume` goes on."""


class EpisodeFault(FieldmarkError):
    """A fault that is not the agent's, attributed to one boundary.

    `kind` is a short machine-readable word (`unreachable`, `oom`, `disk_full`, …).
    `stops_run` marks faults that would hit every further task alike (bad key, full disk).
    """

    boundary: ClassVar[Boundary] = "host"

    def __init__(self, message: str, *, kind: str = "fault", stops_run: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.stops_run = stops_run


class SandboxFault(EpisodeFault):
    """The container, the engine or the image broke."""

    boundary = "sandbox"


class ModelFault(EpisodeFault):
    """The model's server stayed down after retries, or refused our credentials or quota."""

    boundary = "model"


class GatewayFault(EpisodeFault):
    """The gateway itself broke."""

    boundary = "gateway"


class SearchFault(EpisodeFault):
    """A look-up backend failed, or its quota is used up."""

    boundary = "search"


class DataFault(EpisodeFault):
    """A picture or a task cannot be used."""

    boundary = "data"


class HostFault(EpisodeFault):
    """The host has no disk, memory or descriptors left."""

    boundary = "host"


def plain_reason(kind: str, said: str) -> str:
    """Why a value of a TOML file was refused: pydantic's words, but for types that TOML calls otherwise."""
    said = said.removeprefix("Value error, ")
    return _TOML_WORDS.get(kind) or f"{said[:1].lower()}{said[1:]}"


_TOML_WORDS = {
    **dict.fromkeys(("tuple_type", "list_type"), 'give a list, such as ["a", "b"]'),
    **dict.fromkeys(("model_type", "dict_type"), "give a table"),
}


class ToolError(FieldmarkError):
    """A tool could not do its job; the model reads the message and may try again."""

    def __init__(self, message: str, kind: ToolErrorKind = "runtime") -> None:
        super().__init__(message)
        self.kind: ToolErrorKind = kind
