"""The answerer that looks: a vision model that may zoom before it says Yes, No or Unsure (`oracle.md`).

Zooming is the tools' own cut of the picture (`tools/pictures/images.py`), at most LOOKS times a question. A
reply of no use is asked again, ASKS times in all; then Unjudged is raised: a fault of ours, never an Unsure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import get_args

from fieldmark.errors import ToolError
from fieldmark.evals.amigo.constraint import Answer, Constraint
from fieldmark.evals.asking.insisting import insist
from fieldmark.evals.asking.reply import NotUsed
from fieldmark.evals.asking.request import Ask, Message, picture_message, read_prompt
from fieldmark.model_config import AskedConfig
from fieldmark.tools.boxes import place
from fieldmark.tools.model_text import objects_in, without_thinking
from fieldmark.tools.pictures.images import Staged, cut, stage
from fieldmark.trace import Box, Picture

LOOKS = 3
PROMPT = "oracle.md"
MAX_OUTPUT, MAX_SCALE = 1024, 8.0
"""Of a part that is shown: its longer side in px, and output pixels per pixel."""
_ANSWERS: tuple[Answer, ...] = get_args(Answer)


@dataclass(frozen=True)
class Look:
    """A part of the picture that was asked for, in thousandths of its sides."""

    box: Box


@dataclass(frozen=True)
class VlmAnswerer:
    """See the module's docstring. `pictures`: a file for each position, from 1. Answers are kept."""

    model: str
    pictures: Sequence[Path]
    prompt: str
    ask: Ask
    settings: AskedConfig
    _known: dict[tuple[int, str], Answer] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """`vlm/MODEL/` and a hash of what it decides by."""
        known = [self.prompt, self.settings.temperature, self.settings.seed, LOOKS]
        return f"vlm/{self.model}/{hashlib.sha256(json.dumps(known).encode()).hexdigest()[:8]}"

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Answer:
        """DataFault: the picture cannot be read. Unjudged: see the module's docstring."""
        key = (position, question)
        if key not in self._known:
            self._known[key] = self._looked(stage(self.pictures[position - 1], any_shape=True), question)
        return self._known[key]

    def _looked(self, staged: Staged, question: str) -> Answer:
        said = [
            {"role": "system", "content": self.prompt},
            picture_message(
                staged.view, staged.view_meta.media_type, f"Question: {question}\n{_left(LOOKS)}"
            ),
        ]
        for left in range(LOOKS - 1, -2, -1):
            reply = self._reply(said, may_look=left >= 0)
            if not isinstance(reply, Look):
                return reply
            said += [
                {"role": "assistant", "content": json.dumps({"look": [*reply.box]})},
                _part(staged, reply, left),
            ]
        raise AssertionError("the last reply is an answer")

    def _reply(self, said: list[Message], *, may_look: bool) -> Answer | Look:
        return insist(
            self.ask,
            self.settings,
            said,
            "answer or look",
            lambda text: read_reply(text, may_look=may_look),
            "of the oracle without an answer",
        )


def read_reply(text: str, *, may_look: bool) -> Answer | Look:
    """The one object of a reply. NotUsed: there is none, several, or one that says something else."""
    found = [each.value for each in objects_in(without_thinking(text))]
    found = [each for each in found if "answer" in each or "look" in each]
    if len(found) != 1:
        raise NotUsed(f"it holds {len(found)} JSON objects with an answer or a look")
    for answer in _ANSWERS:
        if found[0].get("answer") == answer:
            return answer
    box = found[0].get("look")
    if box is None:
        raise NotUsed("its answer is none of Yes, No, Unsure")
    if not may_look:
        raise NotUsed("no looks are left: answer")
    numbers = isinstance(box, list) and len(box) == 4 and all(type(each) in (int, float) for each in box)
    if not numbers or box[0] == box[2] or box[1] == box[3]:
        raise NotUsed("its look is no box of four numbers")
    return Look((float(box[0]), float(box[1]), float(box[2]), float(box[3])))


def make(model: str, pictures: Sequence[Path], ask: Ask, settings: AskedConfig) -> VlmAnswerer:
    """With our prompt, or that of `settings.prompts` (UsageError where it lacks one)."""
    prompt = read_prompt("fieldmark.evals.amigo", PROMPT, settings.prompts)
    return VlmAnswerer(model, pictures, prompt, ask, settings)


def _part(staged: Staged, look: Look, left: int) -> Message:
    """What was asked for, or why it cannot be shown."""
    meta = staged.original_meta
    picture = Picture(blob="", media_type=meta.media_type, width=meta.width, height=meta.height)
    try:
        box = place(look.box, "norm1000", picture, picture).box
        scale = min(MAX_OUTPUT / max(box[2] - box[0], box[3] - box[1]), MAX_SCALE)
        part = cut(staged.original, box, scale=scale, media_type="image/png")
    except ToolError as error:
        return {"role": "user", "content": f"That cannot be shown: {error}. {_left(left)}"}
    return picture_message(part.data, part.media_type, _left(left))


def _left(looks: int) -> str:
    return f"Looks left: {looks}." + ("" if looks else " Answer now.")
