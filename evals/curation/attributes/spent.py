"""What labelling has cost, over all its sittings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from fieldmark.prices import Price, find_price
from fieldmark.trace import Tokens


class Spent(BaseModel):
    """Of one model. `without_usage`: replies whose server said nothing of tokens; `usd` is None with such
    ones, or without a price: unknown is not 0.
    """

    replies: int = 0
    without_usage: int = 0
    input: int = 0
    output: int = 0
    usd: float | None = None


def spent(used: Iterable[tuple[str, Tokens | None]], prices: Mapping[str, Price]) -> dict[str, Spent]:
    """Model → what its replies took."""
    found: dict[str, Spent] = {}
    usd: dict[str, float] = {}
    for model, tokens in used:
        one = found.setdefault(model, Spent())
        one.replies += 1
        one.without_usage += tokens is None
        price = find_price(model, prices)
        if tokens:
            one.input += tokens.input or 0
            one.output += tokens.output or 0
            usd[model] = usd.get(model, 0.0) + (price.of(tokens) if price else 0.0)
    for model, one in found.items():
        price = find_price(model, prices)
        if price and (price.free or not one.without_usage):
            one.usd = round(usd.get(model, 0.0), 6)
    return found
