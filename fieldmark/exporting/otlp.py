"""OTLP's JSON encoding of spans: the lines that OpenTelemetry's file exporter writes.

Ids are lower-case hex, 64-bit integers and times are strings (ProtoJSON, as the OTLP specification has it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
INTERNAL, CLIENT = 1, 3
"""Kinds of spans."""
_ERROR = 2


def trace_id(name: str) -> str:
    """16 bytes, the same for the same name."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]


def span_id(name: str) -> str:
    """8 bytes, the same for the same name."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]


def span(
    ids: tuple[str, str, str | None],
    name: str,
    kind: int,
    times: tuple[int, int],
    told: Mapping[str, Any],
    *,
    error: str | None = None,
    events: list[Json] | None = None,
) -> Json:
    """`ids`: of trace, span, parent. `times`: begin and end, nanoseconds since 1970. `error`: it failed."""
    trace, own, parent = ids
    begin, end = times
    return {
        "traceId": trace,
        "spanId": own,
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(max(begin, end)),
        "attributes": attributes(told),
        **({"events": events} if events else {}),
        "status": {"code": _ERROR, "message": error} if error else {},
    }


def event(name: str, time: int, told: Mapping[str, Any]) -> Json:
    """An event of a span."""
    return {"name": name, "timeUnixNano": str(time), "attributes": attributes(told)}


def line(resource: Mapping[str, Any], scope: Json, spans: list[Json]) -> Json:
    """One ExportTraceServiceRequest."""
    scoped = {"scope": scope, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": attributes(resource)}, "scopeSpans": [scoped]}]}


def attributes(told: Mapping[str, Any]) -> list[Json]:
    """None is left out."""
    return [{"key": key, "value": _value(value)} for key, value in told.items() if value is not None]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_value(each) for each in value]}}
