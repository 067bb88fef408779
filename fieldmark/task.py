"""Task (what is asked, with its gold) and Prompt (what an agent may see of it, without)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fieldmark.trace import Box, Picture

Match = Literal["entity", "exact_text"]
SkillCalls = Literal["helpful", "strict"]
"""What a model gets that calls a skill by name, as if it were a tool: its text, or only `not_found`."""
ReplyForm = Literal["json", "plain", "pix2fact", "tags"]
"""How agents that answer by text are asked to: by our JSON object, by the answer alone (agents of others
only), by the five keys of Pix2Fact, or between tags (closed book only). What each means is a line of
`agents/forms.py`.
"""
Space = Literal["pixel", "sent", "norm1000", "fraction"]
"""What the coordinates of a box refer to: see `tools/boxes.py`."""
OcrEngine = Literal["tesseract", "rapidocr"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Gold(_Strict):
    """The reference answer. `finer` lists known answers that are strictly more specific and compatible.

    `match="exact_text"`: the question asks for a literal text, compared raw apart from white space.
    `source` names who says so; the answer is only as fine as that source. `regions`: where in the picture the
    answer is to be read, any of these boxes, in pixels of the original. `options`: what the question offers
    to choose from, in that order; `kind`: the kind of thing it is, where a way of scoring depends on it.
    """

    answer: str
    aliases: list[str] = []
    finer: list[str] = []
    broader: list[str] = []
    evidence: list[str] = []
    source: str = ""
    match: Match = "entity"
    regions: list[Box] = []
    options: list[str] = []
    kind: str = ""

    @field_validator("regions")
    @classmethod
    def _are_boxes(cls, regions: list[Box]) -> list[Box]:
        if not all(0 <= x0 < x1 < math.inf and 0 <= y0 < y1 < math.inf for x0, y0, x1, y1 in regions):
            raise ValueError("a region is [x0, y0, x1, y1] in pixels, with x0 < x1 and y0 < y1")
        return regions


class Labels(_Strict):
    """What a table may group by. `top` is Product, Nature, Transport or Culture in FIKA-Bench.

    `facets` are labels that only one benchmark has, by name, such as "knowledge domain".
    """

    split: str = "(none)"
    top: str = "(none)"
    mid: str = "(none)"
    source: str = "(none)"
    language: str = "en"
    facets: dict[str, str] = {}

    @field_validator("facets")
    @classmethod
    def _have_names_of_their_own(cls, facets: dict[str, str]) -> dict[str, str]:
        taken = sorted(set(facets) & set(cls.model_fields))
        if taken or not all(name.strip() and value.strip() for name, value in facets.items()):
            raise ValueError(
                f"{taken[0]} is no facet but a label" if taken else "a facet is a name and a text"
            )
        return facets

    def value(self, name: str) -> str | None:
        """Of a label or a facet; None where this task has no such facet."""
        if name in type(self).model_fields and name != "facets":
            return str(getattr(self, name))
        return self.facets.get(name)


class Task(_Strict):
    """One benchmark item. `image` is a file of the host; nothing here but the Prompt enters a sandbox.

    `gallery`: the pictures of a game, in the order of upload; the task's picture is then a numbered sheet of
    them all, and `image` the first.
    """

    id: str
    question: str
    image: Path
    gallery: list[Path] = []
    gold: Gold
    labels: Labels = Labels()
    composed: bool = False


class Limits(_Strict):
    """What ends an episode. 0 means no limit for all but `seconds`."""

    seconds: float = Field(default=240.0, gt=0, description="wall seconds of the agent, FIKA-Bench's limit")
    model_calls: int = Field(default=40, ge=0, description="model requests per episode")
    tokens: int = Field(default=0, ge=0, description="input and output tokens, as the model reports them")
    cost: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="USD, as far as it is known")
    same_requests: int = Field(default=5, ge=0, description="times one request may come in a row")
    turns: int = Field(default=12, ge=0, description="think/act turns of our own agents")


class SkillCard(_Strict):
    """A skill as the prompt lists it; its body is read with the tool `read_skill`."""

    name: str
    description: str


class Prompt(_Strict):
    """All that an agent may see: no id, label, split, file name or position, for those can be gold.

    `token` is random per attempt. `image` describes the original, `view` the picture that models are
    shown; both are pixels of the upright picture. `sees` is whether the model takes pictures, `space` what
    the boxes it gives refer to unless it says otherwise. `eyes` is a vision model that is served beside it;
    `context` and `output` are tokens: the model's window, and how many a reply of it may have.
    `reply` is how agents that answer by text are asked to.
    `picture_notes` say what staging left out (further frames); `notes` come from earlier episodes.
    """

    token: str
    question: str
    language: str = "en"
    image: Picture
    view: Picture
    picture_notes: list[str] = []
    notes: list[str] = []
    skills: list[SkillCard] = []
    skill_calls: SkillCalls = "helpful"
    tools: list[str] = []
    ocr: OcrEngine = "tesseract"
    model: str
    sees: bool = True
    space: Space = "pixel"
    eyes: str | None = None
    context: int = 65_536
    output: int = 8_192
    reply: ReplyForm = "json"
    limits: Limits = Limits()
