"""What an episode may ask of its model: so many calls, tokens and USD, the same thing so many times."""

from __future__ import annotations

from fieldmark.task import Limits
from fieldmark.trace import Tokens

MAX_REFUSED = 20
"""Calls of an agent that goes on asking after its budget is used up; then its episode is ended for it."""
MAX_IN_VAIN = 6
"""Requests in a row that the model's server will not take. An agent may shorten its conversation and ask
again, and one that does so for ever (190 times in 30 s were seen) has to be stopped.
"""


class Budget:
    """Once used up it stays so. `hit` says why, `refused` counts the calls that came after."""

    def __init__(self, limits: Limits) -> None:
        self.hit: str | None = None
        self.refused = 0
        self._limits = limits
        self._calls = 0
        self._last = b""
        self._same = 0
        self._in_vain = 0

    def heard(self, status: int) -> None:
        """Take note of the HTTP status of a reply."""
        self._in_vain = self._in_vain + 1 if 400 <= status < 500 else 0

    def take(self, digest: bytes, used: Tokens, spent: float = 0.0) -> bool:
        """Whether one more call may be made.

        `digest` is of its request; `used` and `spent` (USD) are of the episode so far, as far as it is known.
        """
        self._same = self._same + 1 if digest == self._last else 1
        self._last = digest
        self.hit = self.hit or self._why_not(used, spent)
        self.refused += self.hit is not None
        self._calls += self.hit is None
        return self.hit is None

    def _why_not(self, used: Tokens, spent: float) -> str | None:
        limits, tokens = self._limits, (used.input or 0) + (used.output or 0)
        if limits.model_calls and self._calls >= limits.model_calls:
            return f"the budget of {limits.model_calls} model calls is used up"
        if limits.tokens and tokens >= limits.tokens:
            return f"the budget of {limits.tokens} tokens is used up: {tokens} so far"
        if limits.cost and spent >= limits.cost:
            return f"the budget of {limits.cost:g} USD is used up: {spent:.4f} so far"
        if limits.same_requests and self._same > limits.same_requests:
            return f"the same request came more than {limits.same_requests} times in a row"
        if self._in_vain >= MAX_IN_VAIN:
            return f"the model's server would not take the last {MAX_IN_VAIN} requests"
        return None
