"""What a reply says: one JSON object with a known value for each dimension, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.typing.dimensions import DIMENSIONS

KEYS = ", ".join(DIMENSIONS)


def read_reply(text: str, quoted: Sequence[str] = ()) -> dict[str, str]:
    """Facet → value. `quoted`: the texts of the benchmark that the model was given. NotUsed for all else."""
    read = [_types(each.value) for each in objects_with(text, next(iter(DIMENSIONS)), quoted)]
    if any(said != read[0] for said in read):
        raise NotUsed("it holds several objects that differ")
    return read[0]


def _types(value: dict[str, object]) -> dict[str, str]:
    if set(value) != set(DIMENSIONS):
        raise NotUsed(f"its keys are not {KEYS}")
    for name, values in DIMENSIONS.items():
        if value[name] not in values:
            raise NotUsed(f"its {name} is none of {', '.join(values)}")
    return {name: str(value[name]) for name in DIMENSIONS}
