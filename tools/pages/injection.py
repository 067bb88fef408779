"""Words of strangers that speak to a model instead of a reader: noticed for the trace, never removed."""

from __future__ import annotations

import re

_AROUND = 60  # characters on either side that are shown
_MARKED = re.compile(r"<untrusted source=[^>]*>\n(.*?)\n</untrusted>", re.DOTALL)
_MODEL = r"(?:ai|a\.i\.|llms?|language\W+models?|agents?|assistants?|chatbots?)"
_PLEA = re.compile(
    rf"""\b(?:ignore|disregard|forget|override)\b (?:\W+\w+){{0,4}}? \W+
         (?:instructions?|prompts?|rules|guidelines|directions)\b
    |\b(?:important|note|attention|instructions?|message|notice)\W+(?:for|to)\W+(?:\w+\W+)?{_MODEL}\b
    |\b(?:reveal|print|repeat|show)\W+(?:me\W+)?your\W+(?:system\W+)?(?:prompt|instructions)\b
    |\byou\W+are\W+now\W+(?:an?\W+)?{_MODEL}\b
    |(?:忽略|无视|忘记|不要理会).{{0,10}}(?:指令|指示|提示词?|说明|要求)
    |<\|im_(?:start|end)\|>|\[/?INST\]|^\s*\#*\s*system\s*:""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


def plea(text: str) -> str | None:
    """The first such words inside the marks of untrusted text, with what stands around them.

    A few common forms in English and Chinese: a page without one is not thereby harmless.
    """
    for block in _MARKED.finditer(text):
        found = _PLEA.search(block[1])
        if found:
            around = block[1][max(0, found.start() - _AROUND) : found.end() + _AROUND]
            return " ".join(around.split())
    return None
