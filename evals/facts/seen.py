"""Whether a right answer stood in a result before the agent gave its own.

A result to a call that named it already says nothing new; where it came from outside it is a confirmation.
Shells, files and browsers keep what was written to them, so all that went to one earlier counts as named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fieldmark.evals.facts.names import Names
from fieldmark.evals.facts.results import RETRIEVAL, Result


def first_seen(results: Iterable[Result], names: Names) -> Result | None:
    """The first result that holds a name which its call did not."""
    return next((result for result in _holding(results, names) if not names.told_by(result.own)), None)


def first_confirmed(results: Sequence[Result], names: Names) -> Result | None:
    """The first successful look-up that brought a name back which its call held."""
    lookups = [result for result in results if result.call.action in RETRIEVAL and _brought(result)]
    return next((result for result in _holding(lookups, names) if names.told_by(result.own)), None)


def _holding(results: Iterable[Result], names: Names) -> Iterable[Result]:
    return (result for result in results if names.in_text(result.text))


def _brought(result: Result) -> bool:
    """Not where it failed, or says itself that nothing was found."""
    data = result.event.data
    told = data if isinstance(data, dict) else {}
    return result.event.ok and told.get("found") is not False and told.get("hits") != []
