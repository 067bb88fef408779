"""What a model's tokens cost. Unknown is None, never 0."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fieldmark.errors import UsageError
from fieldmark.records import EpisodeRecord
from fieldmark.trace import Role, Tokens

BUNDLED = Path(__file__).parent / "prices.toml"
_MILLION = 1e6


class Price(BaseModel):
    """USD per million tokens. `cached`: of input that came from a cache; None: as any input."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0, strict=True)
    output: float = Field(ge=0, strict=True)
    cached: float | None = Field(default=None, ge=0, strict=True)
    source: str = ""
    date: datetime.date | str = ""

    @property
    def free(self) -> bool:
        return self.input == self.output == 0

    def of(self, tokens: Tokens) -> float:
        """USD of what is known of these tokens; 0 where nothing is."""
        cached = tokens.cached or 0
        fresh = max(0, (tokens.input or 0) - cached)
        cheap = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * cheap + (tokens.output or 0) * self.output) / _MILLION


@dataclass(frozen=True)
class Costs:
    """The price of each model of a run, by role; None where it is not known."""

    prices: Mapping[Role, Price | None]

    def spent(self, tokens: Tokens, role_tokens: Mapping[Role, Tokens]) -> float:
        """USD at least: of the calls whose usage was reported, by the models whose price is known."""
        used = {**role_tokens, "agent": tokens}
        return sum(price.of(used[role]) for role, price in self.prices.items() if price and role in used)

    def whole(
        self, tokens: Tokens, role_tokens: Mapping[Role, Tokens], counts: Mapping[str, int]
    ) -> float | None:
        """USD of an episode; None while the usage of a call, or the price of a model that was called, is not
        known. A model that costs nothing costs nothing, whatever it reports.
        """
        if any(self._unknown(role, counts) for role in ("agent", *role_tokens, *self.prices)):
            return None
        return round(self.spent(tokens, role_tokens), 6)

    def at_least(self, record: EpisodeRecord) -> float:
        """USD at least of a finished episode."""
        return self.spent(record.tokens or Tokens(), record.role_tokens)

    @property
    def known(self) -> bool:
        """Whether every model of the run has a price."""
        return all(price is not None for price in self.prices.values())

    def _unknown(self, role: Any, counts: Mapping[str, int]) -> bool:
        name, without = ("model_calls", "calls_without_usage") if role == "agent" else _count_names(role)
        price = self.prices.get(role)
        if not counts.get(name) or (price and price.free):
            return False
        return price is None or bool(counts.get(without))


def _count_names(role: str) -> tuple[str, str]:
    return f"{role}_calls", f"{role}_calls_without_usage"


def read_prices(path: Path) -> dict[str, Any]:
    """A price table as it stands in a file; UsageError when it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the prices {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the prices {path} are not valid TOML: {error}") from None


def find_price(model: str, own: Mapping[str, Price]) -> Price | None:
    """The price of a model: from the user's own table, else from the bundled one."""
    bundled = {name: Price.model_validate(row) for name, row in read_prices(BUNDLED).items()}
    for table in (own, bundled):
        if model in table:
            return table[model]
        for pattern, price in table.items():
            if "*" in pattern and fnmatchcase(model, pattern):
                return price
    return None
