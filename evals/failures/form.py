"""Answers that are no answer to what was asked: one name, as specific as possible, and nothing else.

Patterns count only where no name of the reference holds the same ("Black or White" is a song).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fieldmark.evals.judges.exact import MAX_CHARACTERS

_FAULTS = {
    "leftovers of a format or of a tool call": (
        r"```|</?\w+>|<\|\w+\|>|\[TOOL_CALLS\]|^\s*[\[{].*[\]}]\s*$",
        r"[{,]\s*[\"'][\w ]+[\"']\s*:|^\s*[\"']?answer[\"']?\s*:",
    ),
    "a refusal": (
        r"\b(?:can(?:no|')t|can not|could(?: not|n't)|unable to|not able to|do(?: not|n't)) (?:\w+ )?"
        r"(?:identify|determine|tell|see|know|answer|recogni[sz]e|help|assist|say|provide|view|make out)\b",
        r"\bi(?:'m| am) sorry\b|无法|不能(?:确定|识别|判断|看)|不知道|抱歉|未知",
        r"^\W*(?:unknown|n/?a|none|no answer|not sure|unidentified|undetermined)\W*$",
    ),
    "several candidates": (
        r"\b(?:either|or|versus|vs)\b|\s/\s|或|还是",
        r"^\s*(?:1[.)]|[-*•])\s.*\n\s*(?:2[.)]|[-*•])\s",
    ),
    "a sentence of a plan": (
        r"^\W*(?:i(?:'ll| will| need to| should|'m going to| am going to)|let(?:'s| me| us))\b",
        r"^\W*(?:first,|next,|to identify|now i\b|we (?:need|should|can)\b)",
        r"我(?:将|会|需要|先|应该)|让我|首先|接下来|[:：]\s*$|(?:\.\.\.|…)\s*$",
    ),
}
_PATTERNS = {
    what: re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL) for what, patterns in _FAULTS.items()
}


def fault_of(answer: str, names: Sequence[str]) -> str | None:
    """What is wrong with the form of an answer; None when nothing is. `names` are those of the reference."""
    if len(answer) > MAX_CHARACTERS:
        return f"longer than {MAX_CHARACTERS} characters"
    text = answer.replace("’", "'")
    for what, pattern in _PATTERNS.items():
        if pattern.search(text) and not any(pattern.search(name) for name in names):
            return what
    return None
