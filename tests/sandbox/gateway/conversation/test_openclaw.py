"""OpenClaw's shapes: no session header, ids without `_`, a turn that is dropped, tools behind a tool."""

from __future__ import annotations

from tests.model_server import Call, Reply
from tests.sandbox.gateway.conversation.conftest import Playing, assistant, result, system, user

TOOLS = ["read", "exec", "view_image", "tool_search", "tool_call"]
START = [system("You run in a workspace."), user("[Mon] What is this? picture.png"), user("<<<CONTEXT>>> 1")]


async def test_ids_that_lost_their_underscores_are_joined(playing: Playing) -> None:
    calls = [Call("exec", {"command": "ls"}, "call_1_0"), Call("read", {"path": "a.txt"}, "call_1_1")]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as openclaw:
        await openclaw.chat(*START, tools=TOOLS)
        said = assistant(("call10", "exec", "{}"), ("call11", "read", "{}"))
        # the last message of a request is the framework's own, and another one each time
        later = [*START[:2], said, result("call11", "Path escapes sandbox root"), result("call10", "a.txt")]
        await openclaw.chat(*later, user("<<<CONTEXT>>> 2"), tools=TOOLS)
    assert openclaw.results() == [("m1.0", "exec", "ok"), ("m1.1", "read", "denied")]
    assert {row["thread"] for row in openclaw.inside.events("model_request")} == {"t1"}


async def test_ids_that_a_server_uses_again_answer_the_latest_call(playing: Playing) -> None:
    same = Reply(calls=[Call("exec", {"command": "ls"}, "call_0")])
    async with playing([same, same, Reply("A gradient.")]) as openclaw:
        history = list(START[:2])
        for text in ("first", "Tool exec not found", "-"):
            await openclaw.chat(*history, tools=TOOLS)
            history += [assistant(("call_0", "exec", "{}")), result("call_0", text)]
        texts = [row["text"] for row in openclaw.inside.events("tool_result")]
    assert texts == ["first", "Tool exec not found"]
    assert [kind for _, _, kind in openclaw.results()] == ["ok", "not_found"]


async def test_a_turn_that_was_dropped_for_its_arguments_is_a_retry_and_a_failed_act(
    playing: Playing,
) -> None:
    bad = Reply(calls=[Call("exec", '{"command": "ls -la, ', "c_1")])
    async with playing([bad, bad, Reply(calls=[Call("exec", {"command": "ls"}, "c_2")])]) as openclaw:
        for _ in range(3):
            await openclaw.chat(*START, tools=TOOLS)
        acts = openclaw.acts().acts
    assert openclaw.purposes() == ["step", "retry", "retry"]
    assert [(act.name, act.ok, act.error_kind) for act in acts] == [
        ("exec", False, "invalid_args"), ("exec", False, "invalid_args"), ("exec", None, None),
    ]  # fmt: skip


async def test_a_tool_that_was_not_offered_is_not_found_and_one_behind_a_tool_is_named(
    playing: Playing,
) -> None:
    calls = [
        Call("web_search", {"query": "x"}, "c_1"),
        Call("tool_call", {"id": "web_fetch", "args": {"url": "https://x.example"}}, "c_2"),
        Call("tool_call", {"id": "sessions_spawn", "args": {}}, "c_3"),
    ]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as openclaw:
        await openclaw.chat(*START, tools=TOOLS)
        said = assistant(*((call.id or "", call.name, "{}") for call in calls))
        texts = ["Tool web_search not found", "A page.", "done"]
        results = [result(call.id or "", text) for call, text in zip(calls, texts, strict=True)]
        await openclaw.chat(*START[:2], said, *results, tools=TOOLS)
        found = openclaw.acts()
        fetch = openclaw.inside.events("tool_call")[1]
    assert [(act.name, act.action, act.error_kind) for act in found.acts] == [
        ("web_search", "web_search", "not_found"), ("web_fetch", "open_page", None),
    ]  # fmt: skip
    assert (fetch["via"], fetch["arguments"]) == ("tool_call", {"url": "https://x.example"})
    assert dict(found.sides) == {"subagent": 1}


async def test_a_tools_own_call_of_the_vision_model_is_a_side_call(playing: Playing) -> None:
    look = Reply(calls=[Call("view_image", {"path": "picture.png"}, "c_1")])
    async with playing([look, Reply("A grey disc."), Reply("A gradient.")]) as openclaw:
        await openclaw.chat(*START, tools=TOOLS)
        await openclaw.chat(system("Describe the image."), user("What is there?"))
        said = [assistant(("c1", "view_image", "{}")), result("c1", "A grey disc.")]
        await openclaw.chat(*START[:2], *said, user("Image(s) from tool result #1:"), tools=TOOLS)
        acts = openclaw.acts().acts
    assert openclaw.purposes() == ["step", "side", "step"]
    assert [(act.action, act.ok) for act in acts] == [("image_inspection", True)]


async def test_an_empty_reply_and_a_call_as_text_are_no_acts(playing: Playing) -> None:
    text = '<tool_call>{"name": "exec", "arguments": {"command": "ls"}}</tool_call>'
    async with playing([Reply(""), Reply(text)]) as openclaw:
        await openclaw.chat(*START, tools=TOOLS)
        await openclaw.chat(*START, user("The previous attempt gave nothing."), tools=TOOLS)
        responses = openclaw.inside.events("model_response")
        acts = openclaw.acts().acts
    assert openclaw.purposes() == ["step", "step"]
    assert responses[1]["tool_calls"] == []
    assert acts == []


async def test_reading_a_skill_is_no_act(playing: Playing) -> None:
    calls = [
        Call("read", {"path": "skills/husky/SKILL.md"}, "c_1"),
        Call("exec", {"command": "cat skills/husky/SKILL.md"}, "c_2"),
        Call("exec", {"command": "cat skills/husky/SKILL.md && ls"}, "c_3"),
    ]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as openclaw:
        await openclaw.chat(*START, tools=TOOLS)
        await openclaw.inside.post("/done", {"error": None})
        await openclaw.inside.end()
        found = openclaw.acts()
    assert (len(found.acts), dict(found.sides)) == (1, {"skill": 2})
