"""Tool (what an agent can do) and ToolResult (what came of one call)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from fieldmark.errors import ToolErrorKind
from fieldmark.trace import Action, Picture, Region

if TYPE_CHECKING:
    from fieldmark.tools.context import Context

Backend = Literal[
    "index", "registry", "search", "web", "found_pictures", "eyes", "classifier", "memory", "notebook"
]
TEXT_CAP = 8_000
DATA_CAP = 12_000
"""Characters of a result that a model is shown; text and data together stay below an event's 64 kB."""


class Args(BaseModel):
    """Base of the arguments of every tool; a field that is not declared is refused by name.

    Models write null for what they leave out, and a number where a text of digits is meant.
    """

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: value for name, value in given.items() if value is not None or name not in optional}


@dataclass(frozen=True)
class ToolResult:
    """What a tool says. `ok` with `data["found"]` false: it did its job and there was nothing.

    `number` is that of its event in the trace, where notes may cite it.
    """

    text: str
    data: Any = None
    pictures: list[Picture] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    ok: bool = True
    error_kind: ToolErrorKind | None = None
    error: str | None = None
    number: int | None = None

    @classmethod
    def failed(cls, kind: ToolErrorKind, message: str) -> ToolResult:
        """A call that could not be carried out; the model reads `Error (kind): message`."""
        return cls(text=f"Error ({kind}): {message}", ok=False, error_kind=kind, error=message)

    def for_model(self) -> str:
        """`text`, then one line `data: {compact JSON}` where there is data; capped, the JSON always whole."""
        text = self.numbered(capped(self.text, TEXT_CAP))
        if self.data is None:
            return text
        return f"{text}\ndata: {compact(self.data)}"

    def numbered(self, text: str) -> str:
        """`text`, and a line with the number that a note may cite."""
        return text if self.number is None else f"{text}\n(result {self.number})"


def compact(data: Any) -> str:
    """One line of valid JSON below DATA_CAP characters; larger data is replaced by a remark."""
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return line if len(line) <= DATA_CAP else '{"truncated":true}'


def capped(text: str, limit: int) -> str:
    """`text`, or its beginning and a remark on how much was left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[truncated: shown {limit} of {len(text)} characters]"


@dataclass(frozen=True)
class Tool:
    """One thing an agent can do; lives in the file `tools/<name>.py` as `TOOL`.

    `description` is one paragraph that a model understands; `run` raises ToolError when it cannot work.
    `needs` is the host's service without which the tool is not offered.
    """

    name: str
    description: str
    args: type[Args]
    action: Action
    run: Callable[[Any, Context], ToolResult]
    needs: Backend | None = None


def schema(tool: Tool) -> dict[str, Any]:
    """The tool as an OpenAI function, flat: no `$defs`, `title`, `anyOf` or null defaults."""
    full = tool.args.model_json_schema()
    parameters = {
        "type": "object",
        "properties": {name: _plain(spec) for name, spec in full.get("properties", {}).items()},
        "required": full.get("required", []),
        "additionalProperties": False,
    }
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    """One property; `X or null` becomes X, since leaving an optional argument out says the same."""
    kept = {key: value for key, value in spec.items() if key not in {"title", "anyOf"}}
    for choice in spec.get("anyOf", []):
        if choice.get("type") != "null":
            kept |= choice
    if kept.get("default", ...) is None:
        del kept["default"]
    if isinstance(kept.get("items"), dict):
        kept["items"] = _plain(kept["items"])
    return kept
