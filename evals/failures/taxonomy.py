"""The classes of the failure taxonomy: definition, group of the paper, the link that breaks first in them."""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.findings import FailureLabel, Link, RetrievalFailure

VERSION = "1"
"""Changes with any definition or rule: rows of another version are not read beside these."""
WRONG_ENTITY = "wrong entity, retrieval or visual grounding"
"""The group that the FIKA-Bench paper gives one number for; its full list of classes is not published."""


@dataclass(frozen=True)
class Definition:
    """`group` is the paper's sum that the class belongs to. `link` is what broke where facts do not say."""

    text: str
    group: str | None = None
    link: Link | None = None


CLASSES: dict[FailureLabel, Definition] = {
    "wrong_entity_retrieval": Definition(
        "It looked things up and answered another entity.", WRONG_ENTITY, "retrieval"
    ),
    "visual_grounding": Definition(
        "It did not see, or misread, what the picture shows.", WRONG_ENTITY, "grounding"
    ),
    "neighbour_confusion": Definition(
        "The answer is a sibling of the reference: it shares its parent.", None, "reasoning"
    ),
    "too_broad": Definition(
        "The answer is right and not specific enough: an ancestor of the reference.", None, "reasoning"
    ),
    "no_acquisition": Definition("It answered without a single act.", None, "retrieval"),
    "generation_or_empty": Definition("It crashed, or ended without a text as its answer."),
    "tool_failure": Definition(
        "Its acts failed: all, or all that look things up, or the one that it broke on.", None, "retrieval"
    ),
    "timeout_or_budget": Definition("Time, tokens, money, calls or turns ended before an answer."),
    "format_or_instruction": Definition(
        "The answer is not one name: refusal, several candidates, a plan, prose, leftovers of a format."
    ),
    "judge_or_label_doubt": Definition("Verdict or reference is in doubt, so the answer may be right."),
}
SUBS: dict[RetrievalFailure, str] = {
    "not_retrieved": "The reference was in no result before the answer.",
    "misjudged": "The reference was in a result before the answer, which is another.",
}
