"""Look an aircraft up by the registration painted on it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.registrations import normalised

_SHOWN_FIELDS = (("type", "type"), ("operator", "operator"), ("built", "built"), ("icao24", "hex"))


class RegistryArgs(Args):
    registration: str = Field(
        description="a registration as read, such as N8710M or D-AIMA, or a 24-bit hex address",
        min_length=2,
        max_length=20,
    )


def run(args: RegistryArgs, context: Context) -> ToolResult:
    reply = context.aircraft(args.registration)
    records, candidates = reply.get("records", []), reply.get("candidates", [])
    lines = [_headline(args.registration, reply)]
    lines += [_record(record) for record in records]
    if len({_aircraft(record) for record in records}) > 1:
        lines.append("The sources disagree or the mark was used again: check the dates.")
    if candidates:
        lines.append("Marks that differ only by characters easily misread:")
        lines += [_candidate(candidate) for candidate in candidates]
    return ToolResult("\n".join(lines), reply)


def _headline(query: str, reply: dict[str, Any]) -> str:
    mark = normalised(query)
    asked = mark if mark == query else f'{mark} (from "{query}")'
    nation = f"; the prefix belongs to {reply['nation']}" if reply.get("nation") else ""
    if reply.get("records"):
        return f"Registry records for {asked}{nation}:"
    return f"No registry record for {asked}{nation}."


def _record(record: dict[str, Any]) -> str:
    name = " ".join(record[key] for key in ("manufacturer", "model") if record.get(key))
    parts = [f"{record.get('registration')}: {name or 'unknown aircraft'}"]
    parts += [f"{label} {record[key]}" for key, label in _SHOWN_FIELDS if record.get(key)]
    source = f"source {record.get('source') or 'unknown'}, {record.get('date') or 'undated'}"
    return f"- {', '.join(parts)} ({source})"


def _aircraft(record: dict[str, Any]) -> tuple[Any, ...]:
    return (record.get("type"), record.get("manufacturer"), record.get("model"))


def _candidate(candidate: dict[str, Any]) -> str:
    changes = ", ".join(f"{change['from']}->{change['to']}" for change in candidate["changed"])
    text = f"- {candidate['registration']} ({changes or 'as read'})"
    if candidate.get("record"):
        return f"{text}: in the registry as {_record(candidate['record']).removeprefix('- ')}"
    return f"{text}: a valid mark, not in the registry"


TOOL = Tool(
    name="aircraft_registry",
    description=(
        "Look up an aircraft by its registration (tail number): gives type, manufacturer and model, "
        "operator, and the source and date of each record. A mark that is not found, or was misread (O/0, "
        "I/1, B/8, S/5), comes back with the valid marks it could be."
    ),
    args=RegistryArgs,
    action="registry",
    run=run,
    needs="registry",
)
