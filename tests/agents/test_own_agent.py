"""An agent of the user's own in the real worker, against a scripted gateway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.own.answering import answer_of
from fieldmark.agents.reply import read_reply
from fieldmark.task import Limits
from tests.agents.conftest import OpenGateway, StartWorker
from tests.agents.scripted_gateway import CROP, ScriptedGateway, call, calls, make_prompt, says

TEMPLATE = Path(__file__).parents[2] / "fieldmark" / "templates" / "my_agent.py"
TOOLS = ["crop_zoom", "aircraft_registry"]
FINAL = says('{"answer": "Saab 340", "confidence": 0.9}')


@pytest.fixture
def run_own(open_gateway: OpenGateway, start_worker: StartWorker, tmp_path: Path) -> Any:
    """`run_own(code, *replies)`: a file of that code solves an episode; the gateway, afterwards."""

    def run(code: str, *replies: Any, name: str = "mine.py", **fields: Any) -> ScriptedGateway:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code, encoding="utf-8")
        gateway = open_gateway(*replies, prompt=make_prompt(**{"tools": TOOLS, **fields}))
        agent = path.parent if path.name == "agent.py" else path
        process = start_worker(gateway, str(agent))
        assert process.wait(30) == 0, process.stderr
        return gateway

    return run


@pytest.mark.parametrize(
    ("returned", "answer"),
    [
        ("Saab 340", ("Saab 340", None)),
        ("<answer>Saab 340</answer>", ("Saab 340", None)),
        ({"answer": " Saab 340", "confidence": "80%"}, ("Saab 340", 0.8)),
        (AgentAnswer("Saab 340", 0.5), ("Saab 340", 0.5)),
        (read_reply({"choices": [{"message": FINAL}]}, "c"), ("Saab 340", 0.9)),
    ],
)
def test_what_solve_may_return(returned: Any, answer: tuple[str, float | None]) -> None:
    read = answer_of(returned, "solve()")
    assert (read.text, read.confidence) == answer


def test_what_is_no_answer_is_said_to_be_none() -> None:
    with pytest.raises(AgentStopped, match=r"solve\(\) returned None: return a text") as stopped:
        answer_of(None, "solve()")
    assert stopped.value.kind == "empty"
    with pytest.raises(TypeError, match=r"solve\(\) returned int: return a text"):
        answer_of(3, "solve()")
    with pytest.raises(TypeError, match="without a text under 'answer'"):
        answer_of({"name": "x"}, "solve()")


def test_a_crash_is_told_with_its_line(run_own: Any) -> None:
    gateway = run_own("def solve(prompt, tools):\n    print('here'); return tools['telescope']()\n")
    [done] = gateway.done
    assert done["error"]["kind"] == "crash"
    assert "no tool named 'telescope' is offered; the tools are crop_zoom, " in done["error"]["message"]
    printed, log = gateway.of_kind("log")
    assert (printed["level"], printed["message"]) == ("info", "here\n")
    assert 'mine.py", line 2, in solve' in log["message"]


def test_a_file_that_fails_when_it_is_run_is_a_crash_in_the_episode(run_own: Any) -> None:
    gateway = run_own("1 / 0\ndef solve(prompt, tools): ...\n")
    assert gateway.done[0]["error"] == {"kind": "crash", "message": "ZeroDivisionError: division by zero"}
    assert 'mine.py", line 1, in <module>' in gateway.of_kind("log")[0]["message"]


def test_tools_are_functions_and_every_call_is_recorded(run_own: Any) -> None:
    code = """
def solve(prompt, tools):
    crop, = [tool for tool in tools if tool.name == "crop_zoom"]
    assert set(crop.parameters["required"]) <= set(crop.parameters["properties"]), crop.parameters
    near = crop(x1=10, y1=10, x2=60, y2=60)
    wrong = tools["crop_zoom"](x1="left")
    picture, = near.pictures
    return f"{near.ok} {picture.box} {len(picture.bytes())} {wrong.ok} {tools.names} {prompt.width}"
"""
    gateway = run_own(code)
    [answer] = gateway.answers()
    assert answer["text"].startswith("True (10.0, 10.0, 60.0, 60.0) ")
    assert answer["text"].endswith(" False ['crop_zoom', 'aircraft_registry'] 400")
    assert [(e["name"], e["door"]) for e in gateway.of_kind("tool_call")] == [("crop_zoom", "graph")] * 2


def test_the_template_thinks_and_acts_until_it_is_told_to_answer(run_own: Any) -> None:
    replies = [calls(call("crop_zoom", CROP)), calls(call("telescope", {}))]
    gateway = run_own(TEMPLATE.read_text("utf-8"), *replies, FINAL, limits=Limits(turns=2))
    assert [event["text"] for event in gateway.answers()] == ["Saab 340"]
    first, second, last = gateway.requests
    assert [tool["function"]["name"] for tool in first["tools"]] == TOOLS
    assert str(second["messages"]).count(";base64,") == 2
    assert "no tool named 'telescope'" in str(last["messages"])
    assert "tools" not in last
    made = [event["call"] for event in gateway.of_kind("tool_call")]
    assert made == [event["call"] for event in gateway.of_kind("tool_result")]
    assert len(set(made)) == 2


def test_a_coroutine_and_a_folder_with_modules_beside_it(run_own: Any, tmp_path: Path) -> None:
    folder = tmp_path / "detective"
    folder.mkdir()
    (folder / "clues.py").write_text("NAME = 'Saab 340'\n")
    code = "from clues import NAME\nasync def solve(prompt, tools):\n    return NAME\n"
    gateway = run_own(code, name="detective/agent.py")
    assert [event["text"] for event in gateway.answers()] == ["Saab 340"]


# --- graphs ---------------------------------------------------------------------------------------

PREBUILT = """
from langgraph.prebuilt import create_react_agent

def graph(model, tools):
    return create_react_agent(model, tools, prompt="Identify it.")
"""

HAND_MADE = """
from typing import Any, TypedDict
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

class State(TypedDict, total=False):
    messages: list[Any]
    answer: str
    confidence: float

def look(state: State, config: RunnableConfig) -> State:
    model, tools = config["configurable"]["model"], config["configurable"]["tools"]
    said = model.invoke(state["messages"]).content
    return {"answer": f"{said} {[tool.name for tool in tools]}", "confidence": 0.25}

graph = StateGraph(State).add_node("look", look).add_edge(START, "look").add_edge("look", END).compile()
"""


def test_a_graph_of_langgraphs_own_making(run_own: Any) -> None:
    """A call, one whose arguments are no JSON, then the answer."""
    replies = [calls(call("crop_zoom", CROP, "a")), calls(call("crop_zoom", '{"x1": 1', "b"))]
    gateway = run_own(PREBUILT, *replies, FINAL)
    assert [(e["text"], e["confidence"]) for e in gateway.answers()] == [("Saab 340", 0.9)], gateway.done
    recorded = [(e["name"], e["door"], e["model_call"]) for e in gateway.of_kind("tool_call")]
    assert recorded == [("crop_zoom", "graph", "a"), ("crop_zoom", "graph", "b")]
    first, second, third = gateway.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert [tool["function"]["name"] for tool in first["tools"]] == TOOLS
    assert [m["role"] for m in second["messages"]][-3:] == ["assistant", "tool", "user"]
    assert str(second["messages"]).count(";base64,") == 2
    assert "not valid JSON" in json.dumps(third["messages"])


def test_a_graph_made_beforehand_finds_model_and_tools_in_its_configuration(run_own: Any) -> None:
    gateway = run_own(HAND_MADE, says("Saab 340"))
    [answer] = gateway.answers()
    assert (answer["text"], answer["confidence"]) == ("Saab 340 ['crop_zoom', 'aircraft_registry']", 0.25)


ENDLESS = """
from langgraph.graph import START, MessagesState, StateGraph

def graph(model, tools):
    def think(state):
        return {"messages": [model.invoke(state["messages"])]}
    endless = StateGraph(MessagesState).add_node("think", think)
    return endless.add_edge(START, "think").add_edge("think", "think")
"""


def test_a_graph_that_never_ends_has_used_its_turns(run_own: Any) -> None:
    gateway = run_own(ENDLESS, FINAL, limits=Limits(turns=1, model_calls=0))
    assert gateway.done[0]["error"]["kind"] == "max_turns"


def test_what_is_no_graph_is_said_to_be_none(run_own: Any) -> None:
    gateway = run_own("graph = 7\n")
    [done] = gateway.done
    assert done["error"]["message"].startswith("TypeError: graph is a int: make it a LangGraph graph")
