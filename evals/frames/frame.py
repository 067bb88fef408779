"""Rows as a data frame whose columns and types do not depend on what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from pandas import DataFrame

_TYPES: dict[type, str] = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
"""The types of pandas that know a missing value."""


def frame(kind: type[BaseModel], rows: Sequence[BaseModel]) -> DataFrame:
    """One row each, in order; a column for each field of `kind`."""
    import pandas

    columns = {
        name: pandas.array([getattr(row, name) for row in rows], dtype=_type(field.annotation))
        for name, field in kind.model_fields.items()
    }
    return pandas.DataFrame(columns)


def _type(annotation: Any) -> str:
    held = {annotation, *get_args(annotation)}
    return next(name for plain, name in _TYPES.items() if plain in held)
