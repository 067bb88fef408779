"""The categories of Pix2Fact (arXiv 2602.00593, tables 2 and 3), and how many questions each has there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SCENES = {
    "Amusement Parks": 49, "City Skylines": 113, "Festivals & Gatherings": 52, "Historic Architecture": 153,
    "Libraries & Bookstores": 67, "Markets & Vendors": 290, "Office Spaces": 55, "Urban Streets": 221,
}  # fmt: skip
KNOWLEDGE = {
    "Culture, Entertainment & History": 80, "Dynamic & Current Events": 343, "Finance & Economics": 285,
    "Geography & General Facts": 131, "Product & Corporate Info": 161,
}  # fmt: skip
PERCEPTION = {"Entity Recognition": 203, "Object Counting": 126, "OCR": 577, "Spatial Relationship": 94}
LOGIC = {
    "Calculation-based Query": 127, "Chained/Indirect Query": 345, "Direct Lookup": 143,
    "Parametric Query": 385,
}  # fmt: skip
FACETS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "knowledge": ("knowledge domain", KNOWLEDGE),
    "perception": ("perception type", PERCEPTION),
    "logic": ("logic type", LOGIC),
}
"""Field → the facet that it becomes, and that facet's categories."""


def known_as(value: Any, categories: Mapping[str, int]) -> Any:
    """A category as the paper writes it, whatever the case, signs and spaces; another name stays."""
    if not isinstance(value, str):
        return value
    return {_letters(name): name for name in categories}.get(_letters(value), value.strip())


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]|and", "", name.lower())
