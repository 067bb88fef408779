"""The parser that was released with Pix2Fact, as a variant by name: it takes the text from the last `{`.

A brace inside a value, or an object in an object, leaves it a fragment, and the answer is lost. It is never
what an answer is read by here (`agents/five_keys.py` is): it says how many answers it would have lost.
"""

from __future__ import annotations

import json

from fieldmark.five_keys import short_answer


def last_brace(raw: str) -> str | None:
    """The short answer in what stands from the last `{` to the last `}`; None where that is no object with
    one.
    """
    try:
        value = json.loads(raw[raw.rindex("{") : raw.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None
    answer = short_answer(value) if isinstance(value, dict) else None
    return answer.strip() if isinstance(answer, str) else None
