"""The one rule for numbers that a model writes: a faithful finite decimal, or a refusal; never a guess."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_DECIMAL = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def plain_number(value: Any) -> float:
    """A finite float from a number or from a decimal string such as "448" or "-0.5".

    Raises ValueError for NaN, Infinity, null, booleans, and for every string that could be read in
    two ways: "12px", "1,000", "1e3", "50%", full-width digits.
    """
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        return _finite(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    raise ValueError("expected a plain number such as 448")


def _finite(value: str | int | float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("expected a finite number such as 448")
    return number


def _plain_or_absent(value: Any) -> float | None:
    return None if value is None else plain_number(value)


Number = Annotated[float, BeforeValidator(plain_number)]
OptionalNumber = Annotated[float | None, BeforeValidator(_plain_or_absent)]
"""As Number; null means the same as leaving it out."""
