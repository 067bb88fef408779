"""Calls that the sandbox claims: which call of the model they came out of, and that none counts twice."""

from __future__ import annotations

from tests.model_server import Call, Reply
from tests.sandbox.gateway.conversation.conftest import Framework, Playing, assistant, result, user

START = user("What is this?")


async def claimed(framework: Framework, call: str, name: str, ok: bool = True, **fields: object) -> None:
    await framework.claim("tool_call", call=call, name=name, **fields)
    kind = {} if ok else {"error_kind": "runtime"}
    await framework.claim("tool_result", call=call, ok=ok, seconds=0.1, **kind)


async def test_a_tool_run_from_a_shell_belongs_to_that_shells_call(playing: Playing) -> None:
    calls = [
        Call("bash", {"command": "ls"}, "c_1"),
        Call("bash", {"command": """fieldmark tool ocr --json '{"mode": "text"}'"""}, "c_2"),
    ]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as framework:
        await framework.chat(START, tools=["bash"])
        await claimed(
            framework, "x1", "ocr", ok=False, door="command", action="ocr", arguments={"mode": "text"}
        )
        said = assistant(("c_1", "bash", "{}"), ("c_2", "bash", "{}"))
        await framework.chat(START, said, result("c_1", "a"), result("c_2", '{"ok": false}'), tools=["bash"])
        rows = framework.inside.events("tool_call")
        acts = framework.acts().acts
    assert [(row["name"], row["by"], row.get("parent")) for row in rows] == [
        ("bash", "gateway", None), ("ocr", "sandbox", "m1.1"), ("bash", "gateway", None),
    ]  # fmt: skip
    assert [(act.name, act.ok, [deep.name for deep in act.innermost]) for act in acts] == [
        ("bash", True, ["bash"]), ("bash", False, ["ocr"]),
    ]  # fmt: skip


async def test_a_script_that_hides_the_tool_is_the_only_shell_that_runs(playing: Playing) -> None:
    async with playing([Reply(calls=[Call("bash", {"command": "python3 look.py"}, "c_1")])]) as framework:
        await framework.chat(START, tools=["bash"])
        await claimed(framework, "x1", "ocr", door="command", action="ocr")
        await claimed(framework, "x2", "crop_zoom", door="command", action="crop_zoom")
        [act] = framework.acts().acts
    assert [deep.action for deep in act.innermost] == ["ocr", "crop_zoom"]


async def test_an_mcp_call_is_the_models_call_under_the_clients_prefix(playing: Playing) -> None:
    calls = [
        Call("mcp__fieldmark__ocr", {"mode": "registration"}, "c_1"),
        Call("fieldmark_ocr", {"mode": "text"}, "c_2"),
        Call("fieldmark_answer", {"text": "A gradient"}, "c_3"),
    ]
    tools = [call.name for call in calls]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as framework:
        await framework.chat(START, tools=tools)
        await claimed(framework, "x1", "ocr", door="mcp", action="ocr", arguments={"mode": "text"})
        await claimed(framework, "x2", "ocr", door="mcp", action="ocr", arguments={"mode": "registration"})
        await claimed(framework, "x3", "answer", door="mcp")
        said = assistant(*((call.id or "", call.name, "{}") for call in calls))
        await framework.chat(START, said, *(result(call.id or "", "text") for call in calls), tools=tools)
        rows = framework.inside.events("tool_call")
        acts = framework.acts().acts
    assert [(row["model_call"], row["tap"], row["by"]) for row in rows] == [
        ("c_2", "m1.1", "sandbox"), ("c_1", "m1.0", "sandbox"), ("c_3", "m1.2", "sandbox"),
    ]  # fmt: skip
    assert [(act.name, act.ok) for act in acts] == [("ocr", True), ("ocr", True)]


async def test_an_answer_from_a_shell_is_no_act(playing: Playing) -> None:
    command = """fieldmark tool answer --json '{"text": "A gradient"}'"""
    async with playing([Reply(calls=[Call("bash", {"command": command}, "c_1")])]) as framework:
        await framework.chat(START, tools=["bash"])
        await claimed(framework, "x1", "answer", door="command")
        found = framework.acts()
    assert (found.acts, dict(found.sides)) == ([], {})


async def test_what_a_sandbox_says_of_taps_and_sides_is_not_taken(playing: Playing) -> None:
    async with playing([Reply(calls=[Call("ocr", {}, "c_1"), Call("ocr", {}, "c_2")])]) as framework:
        await framework.chat(START, tools=["ocr"])
        await claimed(
            framework, "x1", "ocr", door="graph", model_call="c_1", tap="m1.1", side="answer", action="ocr"
        )
        await claimed(framework, "m1.1", "ocr", door="graph", model_call="c_9", tap="m1.1")
        await framework.inside.post("/done", {"error": None})
        await framework.inside.end()
        acts = framework.acts().acts
    assert [act.ok for act in acts] == [True, None]


async def test_a_claim_that_calls_itself_a_note_hides_no_act(playing: Playing) -> None:
    async with playing([Reply(calls=[Call("ocr", {}, "c_1"), Call("read", {}, "c_2")])]) as framework:
        await framework.chat(START, tools=["ocr", "read"])
        await claimed(framework, "x1", "recall", door="native", model_call="c_1")
        await framework.claim("tool_call", call="x2", name="answer", door="native", parent="m1.1")
        await framework.inside.post("/done", {"error": None})
        await framework.inside.end()
        found = framework.acts()
    assert (len(found.acts), dict(found.sides)) == (2, {})


async def test_a_call_of_ours_that_never_ran_has_our_name_too(playing: Playing) -> None:
    calls = [Call("fieldmark_crop_zoom", '{"box": [1,', "c_1")]
    async with playing([Reply(calls=calls), Reply("A gradient.")]) as framework:
        await framework.chat(START, tools=["fieldmark_crop_zoom"])
        said = assistant(("c_1", "fieldmark_crop_zoom", "{}"))
        await framework.chat(START, said, result("c_1", "no JSON"), tools=["fieldmark_crop_zoom"])
        [row] = framework.inside.events("tool_call")
        [act] = framework.acts().acts
    assert (act.name, row["name"], row["via"]) == ("crop_zoom", "crop_zoom", "fieldmark_crop_zoom")
    assert row["arguments"] == '{"box": [1,'
