"""The ways in which the agents of `failing_agents/` fail, and the class of each, known by how it is made."""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.findings import FailureLabel, Link, RetrievalFailure

ALONE = (5, 7, 8, 9, 10, 11, 12, 14, 15, 16, 18, 19, 21, 23, 25)
"""Tasks of fieldmark-mini without a second view in its picture index."""
TWICE = (2, 3, 4, 13, 17, 22)
"""Those with a second view whose title names the answer."""
PLANES = (27, 28, 29, 32, 33, 34)
"""Those whose registration is read and registered."""
TEXTS = (6, 20, 26, 35)
"""Those that ask for a literal text."""


@dataclass(frozen=True)
class Mode:
    """A script, the class, sub-class and link that it fails by, and the tasks that it is let loose on.

    `by_facts`: whether facts can decide it at all, said before anything is measured. `link` is None where the
    script does not fix it.
    """

    name: str
    label: FailureLabel
    tasks: tuple[int, ...]
    sub: RetrievalFailure | None = None
    link: Link | None = None
    options: tuple[str, ...] = ()
    by_facts: bool = True


MODES = (
    Mode("sleeps", "timeout_or_budget", ALONE[:8], options=("--time-limit", "8")),
    Mode("asks_again", "timeout_or_budget", ALONE[7:]),
    Mode("says_nothing", "generation_or_empty", ALONE[:8]),
    Mode("crashes", "generation_or_empty", ALONE[7:]),
    Mode("calls_missing_tools", "tool_failure", ALONE[:10], link="retrieval"),
    Mode("finds_no_page", "tool_failure", ALONE[5:], link="retrieval"),
    Mode("breaks_on_a_call", "tool_failure", ALONE[:6], link="retrieval"),
    Mode("answers_at_once", "no_acquisition", ALONE[:12], link="retrieval"),
    Mode("answers_the_kind", "too_broad", (8, 9, 11, 24, 25, *PLANES)),
    Mode("answers_a_group", "too_broad", (7, 8, 9, 10, 15, 23, 25)),
    Mode("answers_a_sibling", "neighbour_confusion", (7, 8, 9, 10, 15, 23, 24, 25, 27, 32, 33, 34)),
    Mode("misjudges", "wrong_entity_retrieval", (*TWICE, *PLANES), "misjudged", "reasoning"),
    Mode("searches_in_vain", "wrong_entity_retrieval", ALONE, "not_retrieved", "retrieval"),
    Mode("never_looks", "visual_grounding", (*TWICE, *ALONE[:6]), link="grounding"),
    Mode("stumbles_and_misjudges", "wrong_entity_retrieval", TWICE, "misjudged", "reasoning"),
    Mode("stumbles_in_vain", "wrong_entity_retrieval", ALONE[:8], "not_retrieved", "retrieval"),
    Mode("loses_the_picture", "visual_grounding", ALONE[:8], link="grounding"),
    Mode("reads_a_corner", "visual_grounding", TEXTS, link="grounding", options=("--epochs", "2")),
    Mode("crops_a_corner", "visual_grounding", ALONE[:10], link="grounding", by_facts=False),
    Mode("answers_in_no_form", "format_or_instruction", (*ALONE[:8], *TEXTS)),
    Mode("answers_right", "judge_or_label_doubt", PLANES, options=("--judge", "refusing_judge.py")),
)
