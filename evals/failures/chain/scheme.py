"""Pix2Fact's scheme of failures (arXiv 2602.00593, appendix F), in our own words.

What broke first is the cause, whatever came of it later: a stage is blamed only where those before it held.
"""

from __future__ import annotations

from fieldmark.findings import ChainKind, Link

NAME, VERSION = "pix2fact", "1"
SCHEME = f"{NAME}/{VERSION}"
"""Stands in each row; changes with any definition or rule."""
STAGES: dict[Link, str] = {
    "grounding": "It did not match the question with the right place or detail of the picture.",
    "retrieval": "What it saw was right; the look-up that this calls for was put wrongly, or misread.",
    "reasoning": "What it saw and what it looked up was right; it drew the wrong conclusion from it, or left"
    " a look-up out and answered from memory.",
}
"""Visual grounding, knowledge retrieval, reasoning & synthesis, in the order in which they are passed."""
KINDS: dict[ChainKind, tuple[Link, str]] = {
    "missed_target": ("grounding", "It did not find the thing that the question is about."),
    "incorrect_target": ("grounding", "It took another thing for it, mostly one that catches the eye."),
    "attribute_misreading": ("grounding", "It found it and misread it: a text, a number, a count, a colour."),
    "faulty_query": ("retrieval", "The query lacked something that matters, or held something wrong."),
    "extraction_error": (
        "retrieval",
        "The right answer stood in what came back, and it took something else.",
    ),
    "inconsistency": ("reasoning", "It contradicts itself, logic or the order of time."),
    "calculation": ("reasoning", "The numbers were right and it calculated wrongly."),
    "instruction_following": ("reasoning", "It knew the answer and did not give it as it was asked for."),
    "retrieval_planning": ("reasoning", "It left out a look-up that it needed, and answered from memory."),
}
"""Kind → its stage and what it is."""
