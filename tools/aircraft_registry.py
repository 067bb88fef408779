"""Look an aircraft up by its registration, 24-bit address or serial number."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field, model_validator

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.reading.registrations import normalised

_SHOWN_FIELDS = (
    ("variant", "variant"),
    ("type", "type"),
    ("operator", "operator"),
    ("owner", "owner"),
    ("built", "built"),
    ("icao24", "hex"),
    ("serial", "serial"),
)


class RegistryArgs(Args):
    registration: str = Field("", description="a registration as read: N8710M, D-AIMA", max_length=20)
    icao24: str = Field("", description="or a 24-bit address, six hex digits: 3c65a1", max_length=10)
    serial: str = Field("", description="or a manufacturer's serial number", max_length=40)

    @model_validator(mode="after")
    def _one(self) -> RegistryArgs:
        given = [text for text in (self.registration, self.icao24, self.serial) if text.strip()]
        if len(given) != 1:
            raise ValueError("give exactly one of registration, icao24, serial")
        if len(given[0].strip()) < 2:
            raise ValueError("at least two characters are needed")
        if self.icao24.strip() and not re.fullmatch(r"(?i)(0x)?[0-9a-f]{6}", self.icao24.strip()):
            raise ValueError("icao24 is six hex digits, such as 3c65a1")
        return self


def run(args: RegistryArgs, context: Context) -> ToolResult:
    reply = context.aircraft(_query(args))
    shown = next(text.strip() for text in (args.registration, args.icao24, args.serial) if text.strip())
    return ToolResult(describe(shown, reply), reply)


def describe(query: str, reply: dict[str, Any]) -> str:
    """The reply of a look-up in words: records with source and date, conflicts, candidates, nation."""
    records, candidates = reply.get("records", []), reply.get("candidates", [])
    lines = [_headline(query, reply)]
    lines += [_record(record) for record in records]
    if reply.get("more"):
        lines.append(f"({reply['more']} more records are left out)")
    if _differ(records):
        lines.append("These records differ: the sources disagree, or it was used again: check the dates.")
    if candidates:
        lines.append("Marks that differ only by characters easily misread:")
        lines += [_candidate(candidate) for candidate in candidates]
    return "\n".join(lines)


def _query(args: RegistryArgs) -> str:
    """A registration goes as it is: models also put addresses there."""
    if args.icao24.strip():
        return f"icao24:{args.icao24.strip()}"
    return f"serial:{args.serial.strip()}" if args.serial.strip() else args.registration


def _headline(query: str, reply: dict[str, Any]) -> str:
    mark = normalised(query)
    asked = mark if mark == query else f'{mark} (from "{query}")'
    nation = f"; it belongs to {reply['nation']}" if reply.get("nation") else ""
    computed = reply.get("computed")
    if computed:
        nation += f"; US numbering: {computed['registration']} = 24-bit address {computed['icao24']}"
    if reply.get("records"):
        return f"Registry records for {asked}{nation}:"
    return f"No registry record for {asked}{nation}."


def _record(record: dict[str, Any]) -> str:
    name = " ".join(record[key] for key in ("manufacturer", "model") if record.get(key))
    parts = [f"{record.get('registration') or 'no registration'}: {name or 'unknown aircraft'}"]
    parts += [f"{label} {record[key]}" for key, label in _SHOWN_FIELDS if record.get(key)]
    source = f"source {record.get('source') or 'unknown'}, {record.get('date') or 'undated'}"
    return f"- {', '.join(parts)} ({source}{_naming(record)})"


def _naming(record: dict[str, Any]) -> str:
    if not record.get("named_by"):
        return ""
    others = f", which also covers {record['names']}" if record.get("names") else ""
    return f"; model from type {record.get('type')} by {record['named_by']}{others}"


def _differ(records: list[dict[str, Any]]) -> bool:
    return any(_conflict(one, other) for at, one in enumerate(records) for other in records[at + 1 :])


def _conflict(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Of two records: other types; or, where a type is missing, names of which none is part of the other."""
    if one.get("type") and other.get("type"):
        return bool(one["type"] != other["type"])
    first, second = _name(one), _name(other)
    return bool(first and second) and first not in second and second not in first


def _name(record: dict[str, Any]) -> str:
    return re.sub(r"[^0-9a-z]", "", f"{record.get('manufacturer', '')}{record.get('model', '')}".lower())


def _candidate(candidate: dict[str, Any]) -> str:
    changes = ", ".join(f"{change['from']}->{change['to']}" for change in candidate["changed"])
    text = f"- {candidate['registration']} ({changes or 'as read'})"
    if candidate.get("record"):
        return f"{text}: in the registry as {_record(candidate['record']).removeprefix('- ')}"
    return f"{text}: a valid mark, not in the registry"


TOOL = Tool(
    name="aircraft_registry",
    description=(
        "Look up an aircraft by its registration (tail number), ICAO 24-bit address or serial number: gives "
        "type, manufacturer and model, operator, year built, and the source and date of each record; records "
        "that disagree are all given. A mark that is not found, or was misread (O/0, I/1, B/8, S/5), comes "
        "back with the valid marks it could be."
    ),
    args=RegistryArgs,
    action="registry",
    run=run,
    needs="registry",
)
