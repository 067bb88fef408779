"""OpenCode's shapes: a title call first, `invalid` for what it could not call, sub-agents, summaries."""

from __future__ import annotations

from tests.model_server import Call, Reply
from tests.sandbox.gateway.conversation.conftest import Playing, assistant, result, system, user

TOOLS = ["bash", "read", "skill", "task", "webfetch", "todowrite"]
TITLE = [system("You make titles."), user("A title for this:\n"), user("What is this?")]
START = [system("You are an agent."), user("What is this?")]
MAIN = {"x-session-id": "ses_a"}


async def test_a_title_call_that_comes_first_is_settled_as_a_side_call(playing: Playing) -> None:
    async with playing([Reply("A gradient")]) as opencode:
        await opencode.chat(*TITLE, headers=MAIN)
        await opencode.chat(*START, tools=TOOLS, headers=MAIN)
        turns = opencode.turns()
    assert opencode.purposes() == ["step", "step"]  # on arrival nobody knows that tools will come
    assert [turn.side for turn in turns] == [True, False]
    assert [turn.main for turn in turns] == [False, True]


async def test_a_title_call_beside_the_first_request_is_a_side_call_at_once(playing: Playing) -> None:
    async with playing([Reply("A gradient")]) as opencode:
        await opencode.chat(*START, tools=TOOLS, headers=MAIN)
        await opencode.chat(*TITLE, headers=MAIN)
    assert opencode.purposes() == ["step", "side"]


async def test_results_are_read_from_the_next_request(playing: Playing) -> None:
    calls = [Call("read", {"filePath": "/w/picture.png"}, "c_1"), Call("bash", {"command": "ls"}, "c_2")]
    async with playing([Reply("Let me look.", calls), Reply("A gradient.")]) as opencode:
        await opencode.chat(*START, tools=TOOLS, headers=MAIN)
        said = assistant(("c_1", "read", '{"filePath": "/w/picture.png"}'), ("c_2", "bash", "{}"))
        media = user("Attached media from tool result:")
        await opencode.chat(
            *START,
            said,
            result("c_1", "Image read"),
            result("c_2", "picture.png"),
            media,
            tools=TOOLS,
            headers=MAIN,
        )
        rows = opencode.inside.events("tool_result")
        [first, _] = opencode.inside.events("tool_call")
    assert opencode.results() == [("m1.0", "read", "ok"), ("m1.1", "bash", "ok")]
    assert rows[1]["text"] == "picture.png"
    assert rows[1]["seconds"] >= 0
    assert (first["door"], first["model_call"], first["tap"]) == ("native", "c_1", "m1.0")
    assert [act.action for act in opencode.acts().acts] == ["image_inspection", "code_or_shell"]


async def test_what_it_rewrites_to_invalid_keeps_the_models_own_name(playing: Playing) -> None:
    replies = [
        Reply(calls=[Call("reverse_image_search", {"image_path": "/x.jpg"}, "c_1")]),
        Reply(calls=[Call("bash", '{"command": "ls -la, ', "c_2")]),
        Reply(calls=[Call("bash", {"cmd": "ls"}, "c_3")]),
        Reply("A gradient."),
    ]
    said = [
        "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'x'.",
        "The arguments provided to the tool are invalid: Invalid input for tool bash: JSON parsing failed",
        "The bash tool was called with invalid arguments: SchemaError(Missing key",
    ]
    history = list(START)
    async with playing(replies) as opencode:
        await opencode.chat(*history, tools=TOOLS, headers=MAIN)
        for number, text in enumerate(said, 1):
            history += [assistant((f"c_{number}", "invalid", "{}")), result(f"c_{number}", text)]
            await opencode.chat(*history, tools=TOOLS, headers=MAIN)
        acts = opencode.acts().acts
    assert [(act.name, act.error_kind) for act in acts] == [
        ("reverse_image_search", "not_found"), ("bash", "invalid_args"), ("bash", "invalid_args"),
    ]  # fmt: skip
    assert opencode.purposes() == ["step"] * 4


async def test_a_sub_agent_is_a_conversation_below_the_call_that_began_it(playing: Playing) -> None:
    task = Call("task", {"prompt": "say hi", "subagent_type": "general"}, "c_1")
    sub = {"x-session-id": "ses_b", "x-parent-session-id": "ses_a"}
    replies = [Reply(calls=[task]), Reply(calls=[Call("bash", {"command": "echo"}, "c_2")]), Reply("hi")]
    async with playing([*replies, Reply("A gradient.")]) as opencode:
        await opencode.chat(*START, tools=TOOLS, headers=MAIN)
        below = [system("You are an agent."), user("say hi")]
        await opencode.chat(*below, tools=TOOLS[:2], headers=sub)
        await opencode.chat(
            *below, assistant(("c_2", "bash", "{}")), result("c_2", "ok"), tools=TOOLS[:2], headers=sub
        )
        said = [assistant(("c_1", "task", "{}")), result("c_1", "<task>hi</task>")]
        await opencode.chat(*START, *said, tools=TOOLS, headers=MAIN)
        requests = opencode.inside.events("model_request")
        acts = opencode.acts()
    assert [row["thread"] for row in requests] == ["t1", "t2", "t2", "t1"]
    assert [row.get("parent_thread") for row in requests] == [None, "t1", "t1", None]
    assert requests[1]["parent_call"] == "m1.0"
    assert [turn.main for turn in opencode.turns()] == [True, False, False, True]
    assert ([act.name for act in acts.acts], dict(acts.sides)) == (["bash"], {"subagent": 1})


async def test_a_summary_is_a_side_call_and_the_fresh_context_the_same_agent(playing: Playing) -> None:
    replies = [Reply(calls=[Call("bash", {"command": "ls"}, "c_1")]), Reply("so far"), Reply("A gradient.")]
    async with playing(replies) as opencode:
        await opencode.chat(*START, tools=TOOLS, headers=MAIN)
        await opencode.chat(system("You sum up."), user("[User]: What is this?"), headers=MAIN)
        fresh = [START[0], user("What did we do so far?"), assistant(text="so far"), user("Go on.")]
        await opencode.chat(*fresh, tools=TOOLS, headers=MAIN)
        await opencode.inside.post("/done", {"error": None})
        await opencode.inside.end()
        acts = opencode.acts().acts
    assert opencode.purposes() == ["step", "side", "step"]
    assert [row["thread"] for row in opencode.inside.events("model_request")] == ["t1", "t2", "t1"]
    # its result was told in the summary alone: the call is there, and how it ended is not known
    assert [(act.name, act.action, act.ok) for act in acts] == [("bash", "code_or_shell", None)]


async def test_a_refused_request_that_is_asked_again_is_a_retry(playing: Playing) -> None:
    async with playing([Reply(status=400), Reply("A gradient.")]) as opencode:
        assert await opencode.chat(*START, tools=TOOLS, headers=MAIN) == 400
        assert await opencode.chat(*START, tools=TOOLS, headers=MAIN) == 200
        [_, again] = opencode.inside.events("model_request")
        turns = opencode.turns()
    assert (again["purpose"], again["retry_of"]) == ("retry", "m1")
    assert [turn.replaced for turn in turns] == [True, False]
