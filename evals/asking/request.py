"""A request: a prompt that is never filled in, and the inputs as one JSON object.

What an agent or the web wrote stands in the values of the object only, escaped, so that no delimiter,
placeholder or instruction in it can leave its value.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.trace import Tokens

Message = dict[str, Any]
"""`content` is a text, or a list of parts where pictures are shown (`evals/amigo/vlm.py`)."""
Ask = Callable[[list[Message], float | None, int | None], tuple[str, Tokens | None]]
"""Messages, temperature, seed (None: not sent) → the text of the reply, and what it used, where it says so.
Unjudged when there is none.
"""


def messages(prompt: str, inputs: Mapping[str, Any]) -> list[Message]:
    """System and user message of one request."""
    data = json.dumps(inputs, ensure_ascii=False, indent=1, default=str).encode("utf-8", "replace").decode()
    return [{"role": "system", "content": prompt}, {"role": "user", "content": data}]


def picture_message(data: bytes, media_type: str, text: str) -> Message:
    """A user message: an encoded picture, and a text after it."""
    uri = f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
    return {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": uri}}, {"type": "text", "text": text}],
    }


def asked_again(asked: list[Message], wrong: str, keys: str) -> list[Message]:
    """The same request after a reply that was of no use. That reply is left out: it can quote the answer."""
    again = (
        f"Your last reply was not used: {wrong}. Reply with one JSON object that has only the keys {keys}."
    )
    return [*asked, {"role": "user", "content": again}]


def shortened(text: str, limit: int) -> str:
    """A text without its middle, where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"


def read_prompt(package: str, name: str, folder: Path | None) -> str:
    """The prompt `name` of a package, or that of the folder `--prompts`. UsageError where it lacks it."""
    if folder is None:
        return (files(package) / name).read_text(encoding="utf-8")
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--prompts {folder}: cannot read {name} there ({error})") from None
    if not text.strip():
        raise UsageError(f"--prompts {folder}: {name} is empty")
    return text
