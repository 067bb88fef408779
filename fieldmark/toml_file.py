"""A TOML file, plain or as settings of a kind; what is wrong with it in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fieldmark.errors import UsageError, plain_reason

Settings = TypeVar("Settings", bound=BaseModel)


def read_toml(path: Path) -> dict[str, Any]:
    """UsageError when it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None


def read_toml_as(path: Path, kind: type[Settings], page: str) -> Settings:
    """The same as settings of a kind; `page` of the documentation says what they are. UsageError: the first
    fault of the file, with its table and key.
    """
    try:
        return kind.model_validate(read_toml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise UsageError(f"{path}: {where} is missing: see {page}") from None
        if first["type"] == "extra_forbidden" and (keys := _keys(kind, first["loc"][:-1])):
            raise UsageError(f"{path}: unknown key {where!r}: here are the keys {', '.join(keys)}") from None
        raise UsageError(f"{path}: {where}: {plain_reason(first['type'], first['msg'])}") from None


def _keys(kind: Any, table: tuple[int | str, ...]) -> list[str]:
    """The keys of a table, as its file spells them; none where it is of no fixed kind."""
    for part in table:
        kind = _item(kind) if isinstance(part, int) else _required(_fields(kind).get(part))
    return list(_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    fields = getattr(kind, "model_fields", {})
    return {field.alias or name: field.annotation for name, field in fields.items()}


def _item(annotation: Any) -> Any:
    """What a list or tuple holds."""
    return next(iter(get_args(annotation)), None)


def _required(annotation: Any) -> Any:
    """The kind of an optional table."""
    if get_origin(annotation) in (list, tuple, dict):
        return annotation
    return next((each for each in get_args(annotation) if each is not NoneType), annotation)
