"""The same from Responses and Messages, and from frameworks that keep their history as text."""

from __future__ import annotations

import json
from typing import Any

from tests.model_server import Call, Reply
from tests.sandbox.gateway.conversation.conftest import Playing, assistant, result, system, user

NOUS = 'Tools:\n<tools>\n{"name": "ocr"}\n</tools>\nCall them as <tool_call>{"name": …}</tool_call>.'
CODE = "Write <code>…</code>. Tools:\ndef ocr(mode: str) -> str:\n    ...\ndef final_answer(text): ..."


def nous(name: str) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {'mode': 'text'}})}\n</tool_call>"


async def test_responses_whose_beginning_the_server_keeps(playing: Playing) -> None:
    tools = [{"type": "function", "name": "shell"}]
    async with playing([Reply(calls=[Call("shell", {"command": "ls"}, "c_1")]), Reply("x")]) as codex:
        body: dict[str, Any] = {"model": "m", "input": "What is this?", "tools": tools}
        await codex.ask(body, "/v1/responses")
        output = {"type": "function_call_output", "call_id": "c_1", "output": "Exit code: 2\nOutput: no"}
        later = {**body, "input": [output], "previous_response_id": "r_1"}
        await codex.ask(later, "/v1/responses")
        threads = [row["thread"] for row in codex.inside.events("model_request")]
    assert codex.results() == [("m1.0", "shell", "runtime")]
    assert threads == ["t1", "t1"]


async def test_messages_say_by_a_flag_that_a_call_failed(playing: Playing) -> None:
    tools = [{"name": "Bash", "input_schema": {}}, {"name": "Read", "input_schema": {}}]
    calls = [Call("Bash", {"command": "ls"}, "c_1"), Call("Read", {"file_path": "/w/picture.jpg"}, "c_2")]
    async with playing([Reply(calls=calls), Reply("x")]) as claude:
        start = {"role": "user", "content": [{"type": "text", "text": "What is this?"}]}
        body: dict[str, Any] = {"model": "m", "max_tokens": 9, "tools": tools, "system": "s"}
        await claude.ask({**body, "messages": [start]}, "/v1/messages")
        blocks = [
            {"type": "tool_result", "tool_use_id": "c_1", "content": "no such thing", "is_error": True},
            {"type": "tool_result", "tool_use_id": "c_2", "content": [{"type": "text", "text": "seen"}]},
        ]
        used: list[Any] = [{"type": "tool_use", "id": c.id, "name": c.name, "input": {}} for c in calls]
        said = [start, {"role": "assistant", "content": used}, {"role": "user", "content": blocks}]
        await claude.ask({**body, "messages": said}, "/v1/messages")
        actions = [act.action for act in claude.acts().acts]
    assert claude.results() == [("m1.0", "Bash", "runtime"), ("m1.1", "Read", "ok")]
    assert actions == ["code_or_shell", "image_inspection"]


async def test_ids_that_are_missing_are_made_up_for_by_position(playing: Playing) -> None:
    calls = [Call("ocr", {}, ""), Call("crop", {}, "")]
    async with playing([Reply(calls=calls), Reply("x")]) as framework:
        await framework.chat(user("?"), tools=["ocr"])
        said = assistant(("", "ocr", "{}"), ("", "crop", "{}"))
        nameless = [{"role": "tool", "content": "one"}, {"role": "tool", "content": "two"}]
        await framework.chat(user("?"), said, *nameless, tools=["ocr"])
        texts = [row["text"] for row in framework.inside.events("tool_result")]
    assert texts == ["one", "two"]
    assert [kind for _, _, kind in framework.results()] == ["ok", "not_found"]


async def test_a_history_kept_as_text(playing: Playing) -> None:
    async with playing([Reply(calls=[Call("ocr", {}, "c_1")]), Reply("x")]) as smolagents:
        await smolagents.chat(user("?"), tools=["ocr", "final_answer"])
        said = [assistant(text="Calling tools: [ocr]"), user("Observation:\nSE-ABC")]
        await smolagents.chat(user("?"), *said, tools=["ocr", "final_answer"])
    assert smolagents.results() == [("m1.0", "ocr", "ok")]


async def test_calls_in_the_text_where_the_system_prompt_says_so(playing: Playing) -> None:
    thought = "<think>I could <tool_call>{}</tool_call></think>"
    replies = [Reply(f"{thought}{nous('ocr')}\n{nous('zoom')}"), Reply("A gradient.")]
    async with playing(replies) as qwen:
        await qwen.chat(system(NOUS), user("?"))
        blocks = "<tool_response>\nSE-ABC\n</tool_response>\n<tool_response>\nTool zoom does not exist.\n"
        await qwen.chat(system(NOUS), user("?"), assistant(text="…"), user(blocks + "</tool_response>"))
        request, response = qwen.inside.events("model_request")[0], qwen.inside.events("model_response")[0]
        acts = qwen.acts().acts
    assert request["text_tools"] == ["ocr"]
    assert (response["in_text"], [call["name"] for call in response["tool_calls"]]) == (True, ["ocr", "zoom"])
    assert qwen.purposes() == ["step", "step"]
    assert [(act.name, act.action, act.error_kind) for act in acts] == [
        ("ocr", "ocr", None), ("zoom", "other", "not_found"),
    ]  # fmt: skip


async def test_a_tool_call_in_prose_is_none(playing: Playing) -> None:
    async with playing([Reply(nous("ocr"))]) as closed_book:
        await closed_book.chat(system("Answer at once."), user("?"))
        assert closed_book.acts().acts == []


async def test_code_counts_once_and_as_the_tools_that_it_names(playing: Playing) -> None:
    code = "Thought: read it.\n<code>\ntext = ocr('text')\nprint(len(text), sorted(text))\n</code>"
    replies = [Reply(code), Reply("<code>\nfinal_answer('A gradient')\n</code>")]
    async with playing(replies) as smolagents:
        await smolagents.chat(system(CODE), user("?"))
        await smolagents.chat(system(CODE), user("?"), assistant(text=code), user("Observation:\n7 []"))
        await smolagents.inside.post("/done", {"error": None})
        await smolagents.inside.end()
        acts = smolagents.acts().acts
    assert [(act.name, act.ok, [deep.name for deep in act.innermost]) for act in acts] == [
        ("code", True, ["ocr"])
    ]


async def test_requests_without_tools_are_steps_where_the_conversation_goes_on_from_them(
    playing: Playing,
) -> None:
    async with playing([Reply("It is round.")]) as forager:
        history = [system("s"), user("?")]
        await forager.chat(*history)
        history += [assistant(text="It is round."), user("Now search.")]
        await forager.chat(*history, tools=["ocr"])
        history += [assistant(text="Done."), user("Is that proof?")]
        await forager.chat(*history)
        history += [assistant(text="No."), user("Search again.")]
        await forager.chat(*history, tools=["ocr"])
        sides = [turn.side for turn in forager.turns()]
    assert sides == [False] * 4


async def test_a_last_request_without_tools_is_a_step_and_a_summary_is_not(playing: Playing) -> None:
    async with playing([Reply(calls=[Call("ocr", {}, "c_1")]), Reply("x")]) as react:
        history = [system("s"), user("?"), assistant(("c_1", "ocr", "{}")), result("c_1", "SE-ABC")]
        await react.chat(*history[:2], tools=["ocr"])
        await react.chat(*history, user("Sum up."))
        await react.chat(*history, user("Go on."), tools=["ocr"])
        await react.chat(*history, user("Your best answer."))
        sides = [turn.side for turn in react.turns()]
    assert react.purposes() == ["step"] * 4
    assert sides == [False, True, False, False]
