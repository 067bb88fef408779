"""forager against scripted models, by the worker's own `serve` and with the real tools: stage by stage."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.agents.acting import Acting
from fieldmark.agents.forager import Foraging
from fieldmark.agents.foraging.state import first_state
from fieldmark.agents.model import ChatModel
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.registry import get_agent
from fieldmark.agents.worker import serve
from fieldmark.client import GatewayClient
from fieldmark.sandbox.gateway.scout.policy import respond
from fieldmark.task import Limits
from fieldmark.tools.registry import get_tool
from tests.agents.conftest import OpenGateway
from tests.agents.scripted_gateway import (
    CROP,
    VIEW,
    Json,
    Reply,
    ScriptedGateway,
    call,
    calls,
    make_prompt,
    says,
)
from tests.agents.test_react import EXHAUSTED, images, texts, tool_texts

REGISTRY = call("aircraft_registry", {"registration": "SE-LSE"}, "r1")


def thinks(*names: str, cites: tuple[str, ...] = (), out: tuple[str, ...] = (), **more: Any) -> Json:
    """A reply with hypotheses, the first the surest, all of which cite the same."""
    rows = [
        {
            "name": name,
            "level": "variant",
            "confidence": 0.6 - n / 10,
            "for": ["a seen mark"],
            "evidence": cites,
        }
        for n, name in enumerate(names)
    ]
    ruled_out = [{"name": name, "why": "the tail is another [E1]"} for name in out]
    return says(json.dumps({"hypotheses": rows, "ruled_out": ruled_out, **more}))


def rules(verdict: str, **more: Any) -> Json:
    return says(
        json.dumps({"verdict": verdict, "why": "five blades were counted", "confidence": 0.9, **more})
    )


OBSERVED = thinks(
    "Saab 340B", "Saab 2000", nearest_neighbour="Saab 340A", tell_apart="the span of the tail",
    observations=["two turboprops"],
)  # fmt: skip
LOOKS = calls(call("crop_zoom", CROP, "c1"), REGISTRY)
SETTLED = thinks("Saab 340B", cites=("E1", "E2"), out=("Saab 2000",))
CONCLUDED = says(
    '{"answer": "Saab 340", "confidence": 0.7, "rationale": "as in [E1]", "cites": ["E2"], '
    '"missing": "the span"}'
)


@pytest.fixture
def play(open_gateway: OpenGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`play(*replies, **prompt)` serves a whole episode in this process and returns its gateway."""
    monkeypatch.setenv("FIELDMARK_WORKSPACE", str(tmp_path))

    def run(*replies: Reply, **prompt: Any) -> ScriptedGateway:
        gateway = open_gateway(*replies, prompt=make_prompt(**prompt))
        serve(get_agent("forager"), GatewayClient(gateway.path))
        return gateway

    return run


def stages(gateway: ScriptedGateway) -> list[Json]:
    return [event["data"] for event in gateway.of_kind("log") if "data" in event]


def names(gateway: ScriptedGateway) -> list[str]:
    return [stage["stage"] for stage in stages(gateway)]


def asked(request: Json) -> str:
    """What the latest message of a request says."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


# --- the way through the stages -------------------------------------------------------------------


def test_observe_acquire_verify_answer(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("exact", cites=["E2"], mark="short tail span"))
    assert ["tools" in request for request in gateway.requests] == [False, True, True, False]
    offered = [tool["function"]["name"] for tool in gateway.requests[1]["tools"]]
    assert offered == ["crop_zoom", "aircraft_registry"]  # not `answer`: nothing goes past the verification
    assert [text.partition(" ")[0] for _, text in tool_texts(gateway.requests[2])] == ["[E1]", "[E2]"]
    [answer] = gateway.answers()
    assert (answer["text"], answer["confidence"]) == ("Saab 340B", 0.9)
    assert "five blades were counted" in answer["rationale"]
    assert gateway.done == [{"error": None}]


def test_the_trace_tells_what_was_believed_and_why(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("exact", cites=["E2"]))
    assert names(gateway) == ["observe", "acquire", "acquire", "verify", "answer"]
    observed, looked, settled, verified, answered = stages(gateway)
    assert [row["name"] for row in observed["hypotheses"]] == ["Saab 340B", "Saab 2000"]
    assert (observed["neighbour"], observed["observations"]) == ("Saab 340A", ["two turboprops"])
    assert [(row["id"], row["tool"]) for row in looked["evidence"]] == [
        ("E1", "crop_zoom"), ("E2", "aircraft_registry"),
    ]  # fmt: skip
    assert len(looked["evidence"][0]["pictures"]) == 1
    assert settled["ruled_out"] == [{"name": "Saab 2000", "why": "the tail is another [E1]", "cites": ["E1"]}]
    assert [(row["cites"], row["supported"]) for row in settled["hypotheses"]] == [(["E1", "E2"], True)]
    assert (verified["verdict"]["candidate"], verified["verdict"]["ruling"]) == ("Saab 340B", "exact")
    assert answered["supported"] is True


def test_the_answer_names_the_events_that_hold_its_evidence(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("exact", cites=["E2"]))
    [seq] = gateway.answers()[0]["evidence"]
    result = gateway.events[seq - 1]  # this gateway's number is how many events there were
    call_ids = {event["call"]: event["model_call"] for event in gateway.of_kind("tool_call")}
    assert (result["kind"], call_ids[result["call"]]) == ("tool_result", "r1")


def test_evidence_against_the_first_idea_leads_to_the_second(play: Any) -> None:
    gateway = play(
        OBSERVED, LOOKS, SETTLED, rules("refuted", cites=["E1"]),
        calls(call("crop_zoom", {**CROP, "x1": 5}, "c2")), thinks("Saab 340A", cites=("E3",)),
        rules("exact", answer="Saab 340A"),
    )  # fmt: skip
    assert gateway.answers()[0]["text"] == "Saab 340A"
    out = {row["name"]: row["why"] for row in stages(gateway)[-1]["ruled_out"]}
    assert out == {"Saab 2000": "the tail is another [E1]", "Saab 340B": "five blades were counted"}
    assert "contradicted" in asked(gateway.requests[4])


def test_what_was_ruled_out_comes_back_on_newer_evidence_only(play: Any) -> None:
    again = thinks("Saab 340B", "Saab 340A", cites=("E1",))
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("refuted"), again, rules("exact"))
    assert gateway.answers()[0]["text"] == "Saab 340A"
    newer = thinks("Saab 340B", "Saab 340A", cites=("E3",))
    look = calls(call("crop_zoom", CROP, "c3"))
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("refuted"), look, newer, rules("exact"))
    assert gateway.answers()[0]["text"] == "Saab 340B"


def test_a_neighbour_that_is_not_excluded_leaves_the_coarser_level(play: Any) -> None:
    unsure = rules("unsure", missing="the span of the tail", broader="Saab 340")
    gateway = play(OBSERVED, LOOKS, SETTLED, unsure, SETTLED, CONCLUDED)
    again, last = gateway.requests[4], gateway.requests[5]
    assert "Missing: the span of the tail" in asked(again)
    assert "tools" in again
    assert "The evidence carries: Saab 340" in asked(last)
    [answer] = gateway.answers()
    assert (answer["text"], answer["rationale"]) == ("Saab 340", "as in [E1] Missing: the span")
    assert len(answer["evidence"]) == 2  # what `cites` and the rationale name


def test_verification_ends_after_three_rounds(play: Any) -> None:
    boxes = iter(range(100))

    def never_sure(request: Json) -> Json:
        if "tools" in request and request["messages"][-1]["role"] == "tool":
            return thinks("Saab 340B", cites=("E1",))
        if "tools" in request and "Stage: acquire" in asked(request):
            return calls(call("aircraft_registry", {"registration": f"SE-{next(boxes)}"}, None))
        if "Stage: verify" in asked(request):
            return rules("unsure")
        return CONCLUDED if "Stage: conclude" in asked(request) else OBSERVED

    gateway = play(never_sure)
    assert names(gateway).count("verify") == 3
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_what_falls_alone_leaves_the_others_standing(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, thinks(out=("Saab 340B",)), rules("exact", cites=["E1"]))
    assert gateway.answers()[0]["text"] == "Saab 2000"


def test_a_name_without_evidence_is_sent_back_for_some(play: Any) -> None:
    gateway = play(OBSERVED, thinks("Saab 340B"), rules("exact"), LOOKS, SETTLED, rules("exact"))
    assert "UNSUPPORTED" in asked(gateway.requests[2])
    assert "it cites no evidence" in asked(gateway.requests[3])
    first, second = (stage["verdict"]["ruling"] for stage in stages(gateway) if "verdict" in stage)
    assert (first, second) == ("unsure", "exact")


def test_made_up_evidence_does_not_count(play: Any) -> None:
    gateway = play(OBSERVED, thinks("Saab 340B", cites=("E7",)), rules("exact", cites=["E9"]), CONCLUDED)
    assert [row["supported"] for row in stages(gateway)[1]["hypotheses"]] == [False]
    assert stages(gateway)[2]["verdict"]["ruling"] == "unsure"


# --- pictures -------------------------------------------------------------------------------------


def test_verification_shows_the_evidence_beside_the_question(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("exact"))
    message = gateway.requests[3]["messages"][-1]["content"]
    assert [part["type"] for part in message] == ["text", "text", "image_url"]
    assert message[1]["text"] == "E1 (crop_zoom):"
    assert images(gateway.requests[3])[0] == images(gateway.requests[0])[0]


def test_a_blind_model_verifies_by_text(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, rules("exact"), sees=False)
    assert not any(images(request) for request in gateway.requests)
    assert [part["type"] for part in gateway.requests[3]["messages"][-1]["content"]] == ["text"]
    assert gateway.answers()[0]["text"] == "Saab 340B"


def test_no_state_holds_the_bytes_of_a_picture(open_gateway: OpenGateway) -> None:
    gateway = open_gateway(OBSERVED, LOOKS, SETTLED, rules("exact"))
    prompt, client = gateway.prompt, GatewayClient(gateway.path)
    tools = [get_tool(name) for name in ("crop_zoom", "aircraft_registry")]
    pictures = Pictures(client, prompt)
    acting = Acting(prompt, client, tools, pictures)
    foraging = Foraging(ChatModel(client, prompt, pictures), acting, client, prompt)
    states = list(foraging.graph().stream(first_state(prompt, tools), stream_mode="values"))
    assert len(states) > 5
    assert base64.b64encode(VIEW).decode() in str(gateway.requests[-1])
    assert all("base64" not in str(state) and str(VIEW) not in str(state) for state in states)


# --- models that cannot do it ---------------------------------------------------------------------


def test_prose_degrades_into_tool_use_and_an_answer(play: Any) -> None:
    gateway = play(
        says("A small airliner, I think."), LOOKS, says("Now I know it."), says("Answer: Saab 340")
    )
    assert ["tools" in request for request in gateway.requests] == [False, True, True, False]
    assert gateway.answers()[0]["text"] == "Saab 340"
    assert names(gateway) == ["observe", "acquire", "acquire", "answer"]
    assert stages(gateway)[-1]["supported"] is False


def test_a_verdict_in_prose_leads_to_the_conclusion(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, says("Yes, that fits rather well."), CONCLUDED)
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_hypotheses_for_a_conclusion_are_read_as_such(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, says("Yes, that fits."), SETTLED)
    assert gateway.answers()[0]["text"] == "Saab 340B"
    assert "not verified against its nearest neighbour" in gateway.answers()[0]["rationale"]


def test_a_run_without_tools_observes_and_concludes(play: Any) -> None:
    gateway = play(OBSERVED, CONCLUDED, tools=["answer"])
    assert not any("tools" in request for request in gateway.requests)
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_scout_as_its_model(play: Any) -> None:
    def scout(request: Json) -> Json:
        reply = respond(request)
        made = [call(row["name"], row["arguments"], None) for row in reply.tool_calls]
        return calls(*made, text=reply.text) if made else says(reply.text)

    gateway = play(scout, sees=False)
    assert [answer["text"] for answer in gateway.answers()] == ["unknown"]
    assert "no vision" in gateway.answers()[0]["rationale"]


def test_huge_replies_do_not_break_the_record(play: Any) -> None:
    huge = ["机" * 2_000] * 12
    rows = [{"name": f"{n}{huge[0]}", "for": huge, "against": huge, "evidence": huge} for n in range(12)]
    big = says(json.dumps({"hypotheses": rows[:6], "observations": huge, "ruled_out": rows[6:]}))
    gateway = play(big, calls(call("crop_zoom", CROP, huge[0])), big, rules("unsure", why=huge[0]), CONCLUDED)
    assert [len(stage["hypotheses"]) for stage in stages(gateway)] == [6] * len(stages(gateway))
    assert gateway.answers()[0]["text"] == "Saab 340"
    assert max(len(json.dumps(event)) for event in gateway.events) < 64_000


# --- budgets and faults ---------------------------------------------------------------------------


UNSURE = rules("unsure", missing="the span", broader="Saab 340")


@pytest.mark.parametrize(
    ("played", "answer"),
    [
        ([], None),  # in observe
        ([OBSERVED], "Saab 340B"),  # in acquire
        ([OBSERVED, LOOKS], "Saab 340B"),
        ([OBSERVED, LOOKS, SETTLED], "Saab 340B"),  # in verify
        ([OBSERVED, LOOKS, SETTLED, UNSURE], "Saab 340"),  # in the second round
        ([OBSERVED, LOOKS, SETTLED, UNSURE, SETTLED], "Saab 340"),  # in conclude
        ([says("hm"), LOOKS, says("hm")], None),
    ],
)
def test_a_budget_that_ends_in_a_stage_leaves_what_stands(
    play: Any, played: list[Json], answer: str | None
) -> None:
    gateway = play(*played, EXHAUSTED)
    assert [row["text"] for row in gateway.answers()] == ([answer] if answer else [])
    error = gateway.done[0]["error"]
    assert (error and error["kind"]) == (None if answer else "budget")


def plays_along(request: Json) -> Json:
    """Always more calls; every stage in JSON."""
    if "tools" in request:
        return calls(REGISTRY, text=SETTLED["content"])
    if "Stage: verify" in asked(request):
        return UNSURE
    return CONCLUDED if "Stage: conclude" in asked(request) else OBSERVED


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8])
def test_the_last_model_call_is_kept_for_the_answer(play: Any, most: int) -> None:
    gateway = play(plays_along, limits=Limits(turns=3, model_calls=most))
    assert len(gateway.requests) <= most
    assert "Stage: conclude" in asked(gateway.requests[-1])
    assert gateway.answers()[0]["text"] == "Saab 340"


@pytest.mark.parametrize("turns", [1, 3, 30])
def test_turns_are_those_with_tools(play: Any, turns: int) -> None:
    gateway = play(plays_along, limits=Limits(turns=turns, model_calls=0))
    assert sum("tools" in request for request in gateway.requests) == turns
    assert names(gateway)[-2:] == ["verify", "answer"]


def test_calls_that_stay_malformed_end_the_tool_use(play: Any) -> None:
    gateway = play(says("hm"), calls(call("crop_zoom", "{}{}", "a1")))
    assert len(gateway.requests) == 5
    assert gateway.done[0]["error"]["kind"] == "tool_call_malformed"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(says("", finish="length"), "truncated"), (says(None, reasoning_content="so"), "reasoning_only")],
)
def test_replies_without_text(play: Any, reply: Json, kind: str) -> None:
    gateway = play(reply)
    assert len(gateway.requests) == 3
    assert gateway.done[0]["error"]["kind"] == kind


def test_a_conclusion_cut_short_leaves_what_stands(play: Any) -> None:
    cut = says('{"answer": "Saab 34', finish="length")
    gateway = play(OBSERVED, LOOKS, SETTLED, UNSURE, SETTLED, cut)
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_refused_requests_end_the_episode_and_large_ones_are_sent_smaller(play: Any) -> None:
    gateway = play({"http": 400, "error": {"message": "Unsupported value", "code": "unsupported_value"}})
    assert gateway.done[0]["error"]["kind"] == "model_refused"
    refused = {"http": 413, "error": {"message": "Request Entity Too Large", "code": "request_too_large"}}
    gateway = play(refused, OBSERVED, LOOKS, SETTLED, rules("exact"))
    assert gateway.answers()[0]["text"] == "Saab 340B"
    assert len(images(gateway.requests[-1])) == 1


def test_no_prompt_leaves_a_blank_unfilled(play: Any) -> None:
    gateway = play(OBSERVED, LOOKS, SETTLED, UNSURE, SETTLED, CONCLUDED)
    said = gateway.requests[-1]["messages"][0]["content"] + texts(gateway.requests[-1])
    assert "$" not in said
