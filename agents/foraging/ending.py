"""The answer of a forager: how far its evidence carries, and what is missing."""

from __future__ import annotations

from collections.abc import Collection

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.foraging.ledger import Ledger, Verdict
from fieldmark.agents.foraging.reading import cited, mentioned, read_object, urls
from fieldmark.agents.parsing import parse_answer
from fieldmark.agents.reply import Reply


def verified(ledger: Ledger, verdict: Verdict, raw: str) -> AgentAnswer:
    """The candidate that was told from its neighbour."""
    rationale = " ".join(filter(None, (verdict.why, verdict.mark)))
    sources = _sources(ledger, verdict.cites, [])
    return AgentAnswer(verdict.answer or verdict.candidate, verdict.confidence, rationale, sources, raw)


def concluded(ledger: Ledger, verdict: Verdict | None, reply: Reply) -> AgentAnswer | None:
    """The answer in a last reply, and what it says is missing. Where it has none, or an object without one,
    what stands in the ledger; None when that is nothing either.
    """
    parsed, found = parse_answer(reply.text, truncated=reply.truncated), read_object(reply)
    if not parsed.answer or (found and not parsed.explicit):
        standing = best_so_far(ledger, verdict)
        if standing or not parsed.answer:
            return standing
    rationale = _with_missing(parsed.rationale or "", str(found.get("missing") or ""))
    ids = {*cited(found.get("cites"), ledger), *mentioned(parsed.rationale, ledger)}
    sources = _sources(ledger, ids, urls([found.get("cites"), parsed.rationale]))
    return AgentAnswer(parsed.answer, parsed.confidence, rationale or None, sources, reply.text)


def best_so_far(ledger: Ledger, verdict: Verdict | None) -> AgentAnswer | None:
    """Without another word of the model: the level that its last verdict left, else its best hypothesis."""
    best = ledger.best
    if verdict is not None and verdict.ruling != "exact" and verdict.broader and _still(ledger, verdict):
        rationale = _with_missing(verdict.why, verdict.missing)
        return AgentAnswer(verdict.broader, None, rationale, _sources(ledger, verdict.cites, []))
    if best is None:
        return None
    rationale = _with_missing("; ".join(best.pro), "it was not verified against its nearest neighbour")
    return AgentAnswer(best.name, best.confidence, rationale, _sources(ledger, best.cites, []))


def _still(ledger: Ledger, verdict: Verdict) -> bool:
    return ledger.best is None or ledger.best.name == verdict.candidate


def _with_missing(rationale: str, missing: str) -> str:
    return f"{rationale} Missing: {missing}".strip() if missing else rationale


def _sources(ledger: Ledger, cites: Collection[str], addresses: list[str]) -> tuple[int | str, ...]:
    """The numbers of the events that hold the evidence, then web addresses."""
    events = [each.seq for each in ledger.cited(cites) if each.seq is not None]
    return (*events, *dict.fromkeys(addresses))
