"""A question as a constraint on one attribute, and the words that an oracle answers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

Answer = Literal["Yes", "No", "Unsure"]
Reply = Literal["Yes", "No", "Unsure", "Skip"]
ANY = "any"
"""As a constraint's value: any value of its type but NONE ("does it have pockets?")."""
NONE = "none"
"""As a label: the thing is looked for and is not there (a garment without a collar)."""


class Constraint(BaseModel):
    """The label of `type` is one of `values`; with `negated`, it is none of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    values: tuple[str, ...]
    negated: bool = False

    def holds(self, labels: Sequence[str] | None) -> Answer:
        """Of an image whose labels of this type are `labels`; without any the answer is Unsure."""
        if not labels:
            return "Unsure"
        there = any(label in self.values or (ANY in self.values and label != NONE) for label in labels)
        return "Yes" if there != self.negated else "No"
