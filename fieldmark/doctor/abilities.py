"""What a model can do, each found out by a small real request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fieldmark.doctor.asking import Model, Part, calls_of, shown, text_of
from fieldmark.doctor.picture import ProbePicture, draw

if TYPE_CHECKING:
    from openai import APIStatusError

LOOK = "Which colour fills this picture, and which number stands in it? Say the colour and the number only."
LOOK_AT_BOTH = "Which number stands in each of the two pictures? Say the two numbers only."
NOTE = {
    "type": "function",
    "function": {
        "name": "note_number",
        "description": "Note one number.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    },
}
_QUOTED = 80
"""Characters of a model's words that are quoted."""
Found = tuple[bool | None, str]
"""Whether it can (None: not found out), and what was seen."""


@dataclass(frozen=True)
class Ability:
    """One line of the table. `can` is None when it was not found out; `refusal` is the server's error."""

    name: str
    can: bool | None
    said: str
    refusal: APIStatusError | None = field(default=None, repr=False, compare=False)


def tried(name: str, probe: Callable[..., Found], *arguments: Any) -> Ability:
    """A probe carried out. A refusal (4xx) means that it cannot; any other error leaves it open."""
    import openai

    refusal = None
    try:
        can, said = probe(*arguments)
    except openai.APIStatusError as error:
        refusal = error
        can = False if error.status_code < 500 and error.status_code not in (408, 409, 425, 429) else None
        said = f"HTTP {error.status_code}: {_message(error)}"
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        can, said = None, f"{type(error).__name__}: {error.__cause__ or error}"
    return Ability(name, can, " ".join(said.split())[:300], refusal)


def says_ready(model: Model, **more: Any) -> Found:
    """Plain text."""
    text = text_of(model.ask("Say the word ready, and nothing else.", **more))
    return bool(text.strip()), quoted(text)


def reports_usage(model: Model) -> Found:
    """Tokens in a whole reply."""
    usage = model.ask("Say the word ready, and nothing else.").usage
    counted = usage is not None and usage.prompt_tokens is not None and usage.completion_tokens is not None
    return counted, f"{usage.prompt_tokens} + {usage.completion_tokens} tokens" if counted else "none"


def streams(model: Model) -> Found:
    """Text in pieces."""
    with model.ask("Count from 1 to 9.", stream=True) as stream:
        pieces = [c.choices[0].delta.content for c in stream if c.choices and c.choices[0].delta.content]
    return bool(pieces), f"{len(pieces)} pieces"


def reports_usage_in_stream(model: Model) -> Found:
    """Tokens at the end of a stream, asked for by `stream_options`."""
    options = {"include_usage": True}
    with model.ask("Say the word ready.", stream=True, stream_options=options) as stream:
        found = [c.usage for c in stream if c.usage and c.usage.prompt_tokens is not None]
    return bool(
        found
    ), f"{found[-1].prompt_tokens} + {found[-1].completion_tokens} tokens" if found else "none"


def sees(model: Model, seed: int) -> Found:
    """A picture of a colour and a number: does it name them."""
    probe = draw(seed)
    return _named(probe, text_of(model.ask([shown(LOOK, probe.png)])))


def sees_several(model: Model, seed: int) -> Found:
    """Two pictures in one request."""
    first, second = _two(seed)
    text = text_of(model.ask([shown(LOOK_AT_BOTH, first.png, second.png)]))
    return first.number in text and second.number in text, f"{_shown(first, second)}: {quoted(text)}"


def sees_after_a_tool(model: Model, seed: int) -> Found:
    """A picture in a user message behind a tool's result: the way pictures of tools reach a model."""
    probe = draw(seed)
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "note_number", "arguments": '{"number": 1}'},
    }
    messages: list[Part] = [
        {"role": "user", "content": "Note the number 1, then look at the picture that you get."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "noted; the picture follows"},
        shown(LOOK, probe.png),
    ]
    return _named(probe, text_of(model.ask(messages, tools=[NOTE])))


def calls_a_tool(model: Model) -> Found:
    """One call with JSON arguments that fit."""
    reply = model.ask("Call note_number with the number 7.", tools=[NOTE])
    numbers = _numbers(reply)
    return numbers == [7], _called(reply, numbers)


def calls_tools_at_once(model: Model) -> Found:
    """Two calls in one reply."""
    asked = "Call note_number two times in this one turn, at once: with the number 3 and with the number 5."
    reply = model.ask(asked, tools=[NOTE])
    numbers = _numbers(reply)
    return sorted(map(str, numbers)) == ["3", "5"], _called(reply, numbers)


def speaks_responses(model: Model) -> Found:
    """The Responses format."""
    text = model.client.responses.create(model=model.name, input="Say the word ready.").output_text
    return bool(text.strip()), quoted(text)


def speaks_messages(model: Model) -> Found:
    """The Anthropic Messages format."""
    body = {
        "model": model.name,
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": "Say the word ready."}],
    }
    headers = {"anthropic-version": "2023-06-01", "x-api-key": model.key}
    reply: Any = model.client.post("/messages", cast_to=object, body=body, options={"headers": headers})
    content = reply.get("content") if isinstance(reply, dict) else None
    text = "".join(str(block.get("text", "")) for block in content or [] if isinstance(block, dict))
    return bool(content), quoted(text)


def takes_limit(model: Model, name: str) -> Found:
    """A limit of tokens under this name."""
    reply = model.ask("Say the word ready.", **{name: 2048})
    return bool(reply.choices), "taken"


def quoted(text: str) -> str:
    """A model's words, fit for a line."""
    line = " ".join(text.split())
    return f"it said {line[:_QUOTED]!r}{'…' if len(line) > _QUOTED else ''}" if line else "it said nothing"


def examine(model: Model, seed: int) -> Iterator[Ability]:
    """Every ability, one after another; after a plain text that fails, nothing more is tried."""
    text = tried("plain text", says_ready, model)
    yield text
    if not text.can:
        return
    for name in ("max_tokens", "max_completion_tokens"):
        yield tried(name, takes_limit, model, name)
    yield tried("usage reported", reports_usage, model)
    yield tried("streaming", streams, model)
    yield tried("usage in a stream", reports_usage_in_stream, model)
    yield tried("image input", sees, model, seed)
    yield tried("several images", sees_several, model, seed + 1)
    yield tried("tool call", calls_a_tool, model)
    yield tried("parallel tool calls", calls_tools_at_once, model)
    yield tried("image after a tool result", sees_after_a_tool, model, seed + 2)
    yield tried("Responses format", speaks_responses, model)
    yield tried("Messages format", speaks_messages, model)


def _message(error: APIStatusError) -> str:
    """The server's own words, where its error has the usual shape."""
    said = error.body.get("message") if isinstance(error.body, dict) else None
    return said if isinstance(said, str) else error.message


def _two(seed: int) -> tuple[ProbePicture, ProbePicture]:
    """Two pictures with different numbers."""
    first, second = draw(seed), draw(seed + 1000)
    return (first, second) if first.number != second.number else (first, draw(seed + 2000))


def _named(probe: ProbePicture, text: str) -> Found:
    return all(probe.sees(text)), f"{_shown(probe)}: {quoted(text)}"


def _shown(*probes: ProbePicture) -> str:
    return "shown " + " and ".join(f"{probe.number} on {probe.colour}" for probe in probes)


def _numbers(reply: Any) -> list[Any]:
    """The arguments of the calls of `note_number`; None for what is not JSON that fits."""
    found = []
    for name, arguments in calls_of(reply):
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = None
        found.append(parsed.get("number") if name == "note_number" and isinstance(parsed, dict) else None)
    return found


def _called(reply: Any, numbers: list[Any]) -> str:
    return f"called note_number with {numbers}" if numbers else f"no call; {quoted(text_of(reply))}"
