"""A model's text → Thoughts or Verdict, as far as it can be read; None where it cannot.

Small models write JSON with remarks around it, with single quotes, in other shapes than asked. What is whole
is read, what is missing stays empty, and a reply that the token limit cut is not completed by guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fieldmark.agents.foraging.ledger import Hypothesis, Ledger, Ruling, Thoughts, Verdict
from fieldmark.agents.parsing import confidence, without_calls
from fieldmark.agents.reply import Reply
from fieldmark.errors import ToolError
from fieldmark.tools.arguments import MAX_REPAIRED, parsed
from fieldmark.tools.cutting import cut_to_bytes
from fieldmark.tools.model_text import without_thinking

MOST_HYPOTHESES, MOST_LINES, MOST_RULED_OUT, MOST_CITES = 6, 4, 8, 12
LINE_BYTES, NAME_BYTES = 240, 160
"""What is kept of a reply, so that every stage fits into one event of the trace."""

_ID = re.compile(r"\bE\d{1,4}\b")
_BRACKETS = re.compile(r"[\[(（]([^\[\]()（）]*)[\])）]")
_URL = re.compile(r"https?://[^\s\"'<>)\]]+")
_EXACT = re.compile(r"exact(?:ly)?(?: match)?|supported|confirmed|verified|yes|true")
_REFUTED = re.compile(r"refuted|contradicted|rejected|wrong|no|false")


def read_thoughts(reply: Reply, ledger: Ledger) -> Thoughts | None:
    """The hypotheses in a reply, or what it rules out; None when there is neither. Cited is only what
    `ledger` has.
    """
    found = read_object(reply)
    alone = [found] if {"name", "confidence"} <= found.keys() else []
    rows = _rows(found.get("hypotheses") or found.get("candidates") or alone)
    hypotheses = [each for row in rows[:MOST_HYPOTHESES] if (each := _hypothesis(row, ledger))]
    ruled_out = tuple(_ruled_out(found.get("ruled_out"), ledger))
    if not hypotheses and not ruled_out:
        return None
    return Thoughts(
        tuple(hypotheses),
        _name(found.get("nearest_neighbour") or found.get("nearest_neighbor") or found.get("neighbour")),
        _line(found.get("tell_apart")),
        ruled_out,
        _lines(found.get("observations"), 2 * MOST_LINES),
    )


def read_verdict(reply: Reply, ledger: Ledger, candidate: Hypothesis) -> Verdict | None:
    """The verdict on `candidate`; `exact` without a word of evidence counts as unsure."""
    found = read_object(reply)
    word = str(found.get("verdict") or "").strip().casefold()
    if not word:
        return None
    cites = cited(found.get("cites"), ledger) or candidate.cites
    ruling, missing = _ruling(word), _line(found.get("missing"))
    if ruling == "exact" and not cites:
        ruling, missing = "unsure", missing or "it cites no evidence"
    return Verdict(
        candidate.name,
        ruling,
        _line(found.get("why")),
        cites,
        _line(found.get("mark")),
        missing,
        _name(found.get("broader")),
        _name(found.get("answer")),
        confidence(found.get("confidence")),
        len(ledger.evidence),
    )


def read_object(reply: Reply) -> dict[str, Any]:
    """The JSON object of a reply, keys in lower case, mended where it is broken; {} when there is none."""
    text = without_calls(without_thinking(reply.text))
    start = text.find("{")
    if start < 0:
        return {}
    whole = text[start : text.rfind("}") + 1]
    for fragment in [whole, *_braced(whole)] if whole else ():
        try:
            return _lower(parsed(fragment))
        except ToolError:
            continue
    return {} if reply.truncated else _mended(text[start:])


def cited(value: Any, ledger: Ledger) -> tuple[str, ...]:
    """The ids of evidence named anywhere in a value that the ledger has."""
    known = {each.id for each in ledger.evidence}
    found = (match for text in _texts(value) for match in _ID.findall(text.upper()))
    return tuple(dict.fromkeys(each for each in found if each in known))[:MOST_CITES]


def mentioned(value: Any, ledger: Ledger) -> tuple[str, ...]:
    """The same in prose, where only [E2] is an id: E30 is also a car."""
    return cited([inside for text in _texts(value) for inside in _BRACKETS.findall(text)], ledger)


def urls(value: Any) -> list[str]:
    """The web addresses named in a value."""
    return [match for text in _texts(value) for match in _URL.findall(text)]


# --- objects --------------------------------------------------------------------------------------


def _braced(text: str) -> Iterator[str]:
    """Of several objects with words between them, each from the last one back."""
    if len(text) > MAX_REPAIRED:
        return
    ends = [match.end() for match in re.finditer(r"\}\s*(?=[^\s,}\]]|\Z)", text)]
    for start, end in reversed(list(zip([0, *ends], ends, strict=False))):
        opening = text.find("{", start, end)
        if opening >= 0:
            yield text[opening:end]


def _mended(text: str) -> dict[str, Any]:
    """An object whose brackets do not pair up; a list is one of hypotheses."""
    if len(text) > MAX_REPAIRED:
        return {}
    import json_repair

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, list):
        return {"hypotheses": _rows(value)}
    return _lower(value) if isinstance(value, dict) else {}


def _lower(value: dict[str, Any]) -> dict[str, Any]:
    return {str(name).casefold(): item for name, item in value.items()}


# --- fields ---------------------------------------------------------------------------------------


def _hypothesis(row: dict[str, Any], ledger: Ledger) -> Hypothesis | None:
    name = _name(row.get("name") or row.get("hypothesis") or row.get("label"))
    if not name:
        return None
    pro = row.get("for") or row.get("pro") or row.get("support")
    return Hypothesis(
        name,
        cut_to_bytes(_text(row.get("level")), 40),
        confidence(row.get("confidence")),
        _lines(pro),
        _lines(row.get("against") or row.get("con")),
        _each_once(cited([row.get("evidence"), row.get("cites")], ledger), mentioned(pro, ledger)),
    )


def _ruled_out(value: Any, ledger: Ledger) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for row in _rows(value if isinstance(value, list) else [])[:MOST_RULED_OUT]:
        why = row.get("why") or row.get("reason")
        on = _each_once(cited([row.get("evidence"), row.get("cites")], ledger), mentioned(why, ledger))
        if name := _name(row.get("name")):
            yield name, _line(why), on


def _each_once(*ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for some in ids for each in some))[:MOST_CITES]


def _ruling(word: str) -> Ruling:
    if _EXACT.fullmatch(word):
        return "exact"
    return "refuted" if _REFUTED.fullmatch(word) else "unsure"


def _rows(value: Any) -> list[dict[str, Any]]:
    """Rows of a list; an object of name → details and a bare name are taken as rows too."""
    if isinstance(value, dict):
        if "name" in value:
            return [value]
        return [{"name": name, **(row if isinstance(row, dict) else {})} for name, row in value.items()]
    rows = value if isinstance(value, list) else []
    return [row if isinstance(row, dict) else {"name": row} for row in rows]


def _lines(value: Any, most: int = MOST_LINES) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else [value]
    return tuple(line for row in rows[:most] if (line := _line(row)))


def _line(value: Any) -> str:
    return cut_to_bytes(_text(value), LINE_BYTES)


def _name(value: Any) -> str:
    return cut_to_bytes(_text(value), NAME_BYTES)


def _text(value: Any) -> str:
    return " ".join("; ".join(_texts(value)).split())


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a value, however deep a model nested it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
