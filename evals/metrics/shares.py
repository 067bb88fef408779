"""A share of something, with its numerator and denominator, and the interval around it."""

from __future__ import annotations

from math import sqrt

from pydantic import BaseModel

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


class Share(BaseModel):
    """`count` of `n`; `fraction` is 0–1 and None when n is 0.

    `count` is no whole number where a task's epochs are averaged before tasks are added up.
    """

    count: float
    n: int
    fraction: float | None

    @classmethod
    def of(cls, count: float, n: int) -> Share:
        return cls(count=count, n=n, fraction=count / n if n else None)


class Interval(BaseModel):
    """A 95 % interval of a fraction, 0–1."""

    low: float
    high: float


def wilson(share: Share) -> Interval | None:
    """The Wilson score interval (Wilson 1927, JASA 22:209), which stays inside 0–1; None when n is 0."""
    if share.fraction is None:
        return None
    p, n, z = share.fraction, share.n, Z95
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half))
