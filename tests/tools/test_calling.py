"""call_tool: what is recorded, and how each kind of failure reaches the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PIL import Image

from fieldmark import trace
from fieldmark.client import GatewayGone
from fieldmark.errors import ToolError, UsageError
from fieldmark.tools.base import DATA_CAP, Args, Tool, ToolResult, schema
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import all_tools, get_tool, tool_names
from fieldmark.trace import Region
from tests.tools.pictures import ContextOf, RecordingContext


@pytest.fixture
def context(context_of: ContextOf) -> RecordingContext:
    return context_of(Image.new("RGB", (100, 80)))


class Nothing(Args):
    pass


def failing(error: BaseException) -> Tool:
    def run(args: Nothing, context: Any) -> ToolResult:
        raise error

    return Tool("failing", "Fails.", Nothing, "other", run)


def test_a_call_is_recorded_before_and_after_the_work(context: RecordingContext) -> None:
    def run(args: Nothing, world: Any) -> ToolResult:
        assert [kind for kind, _ in context.events] == ["tool_call"]
        return ToolResult("done", {"found": True})

    call_tool(Tool("t", "", Nothing, "other", run), "{}", context, door="graph", model_call="call_7")
    events = [
        trace.parse_event({"seq": 0, "t": 0, "by": "sandbox", "kind": kind, **fields})
        for kind, fields in context.events
    ]
    called, result = events
    assert isinstance(called, trace.ToolCall)
    assert isinstance(result, trace.ToolResult)
    assert (called.name, called.model_call, called.door) == ("t", "call_7", "graph")
    assert (result.call, result.ok, result.data) == (called.call, True, {"found": True})
    assert result.seconds >= 0


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ToolError("no such thing", "not_found"), "not_found", "no such thing"),
        (ZeroDivisionError("division\nby zero"), "runtime", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_fault_becomes_a_result(
    context: RecordingContext, error: Exception, kind: str, message: str
) -> None:
    result = call_tool(failing(error), {}, context, door="graph")
    assert (result.ok, result.error_kind, result.error) == (False, kind, message)
    assert result.for_model() == f"Error ({kind}): {message}"
    assert context.events[-1][1]["error_kind"] == kind


def test_the_end_of_the_episode_passes_through(context: RecordingContext) -> None:
    with pytest.raises(GatewayGone):
        call_tool(failing(GatewayGone("over")), {}, context, door="graph")


@pytest.mark.parametrize("arguments", ["{not json", "[1, 2]", '"text"', "[" * 100_000])
def test_broken_arguments_are_refused_and_recorded(
    context: RecordingContext, arguments: str | dict[str, Any]
) -> None:
    result = call_tool(failing(AssertionError()), arguments, context, door="graph")
    assert result.error_kind == "invalid_args"
    assert len(str(context.events[0][1]["arguments"])) < 5000


def test_no_arguments_at_all_are_an_empty_object(context: RecordingContext) -> None:
    error = call_tool(get_tool("answer"), "", context, door="graph").error
    assert (error or "").startswith("text: missing")


def test_nan_in_arguments_is_recorded_as_text(context: RecordingContext) -> None:
    call_tool(get_tool("crop_zoom"), '{"x1": NaN}', context, door="graph")
    assert context.events[0][1]["arguments"] == '{"x1": NaN}'


def test_an_answer_is_posted_as_an_event(context: RecordingContext) -> None:
    arguments = {"text": " Airbus A380 ", "confidence": "0.8", "evidence": [3, "https://example.org"]}
    assert call_tool(get_tool("answer"), arguments, context, door="graph").text == "answer recorded"
    assert [kind for kind, _ in context.events] == ["tool_call", "answer", "tool_result"]
    answer = context.events[1][1]
    assert (answer["text"], answer["confidence"]) == ("Airbus A380", 0.8)
    assert answer["evidence"] == [3, "https://example.org"]


@pytest.mark.parametrize("arguments", ['{"text": "Saab \\ud83d 340"}', {"text": "Saab \ud83d 340"}])
def test_half_an_emoji_does_not_spoil_an_answer(
    context: RecordingContext, arguments: str | dict[str, Any]
) -> None:
    assert call_tool(get_tool("answer"), arguments, context, door="graph").ok
    assert context.events[1][1]["text"] == "Saab ? 340"


@pytest.mark.parametrize("arguments", [{"text": "  "}, {"text": "x", "confidence": 85}, {"answer": "x"}])
def test_an_unusable_answer_is_refused(context: RecordingContext, arguments: str | dict[str, Any]) -> None:
    assert call_tool(get_tool("answer"), arguments, context, door="graph").error_kind == "invalid_args"


@pytest.mark.parametrize("letter", ["x", "机", "\x00"])
def test_the_longest_answer_fits_one_event(context: RecordingContext, letter: str) -> None:
    longest = {
        "text": letter + "机" * 1998 + letter,
        "rationale": letter * 8000,
        "evidence": [letter * 9000] * 49 + [7],
    }
    assert call_tool(get_tool("answer"), longest, context, door="graph").ok
    fields = context.events[1][1]
    assert len(json.dumps(fields)) < 63_000
    assert (fields["text"], fields["evidence"][-1]) == (longest["text"], 7)


@pytest.mark.parametrize("letter", ["x", "机", "\n", "\x00"])
def test_a_huge_result_fits_one_event(context: RecordingContext, letter: str) -> None:
    box = (0.0, 0.0, 9.0, 9.0)
    regions = [Region(of="0" * 64, box=box, label=letter * 300)] * 60

    def run(args: Nothing, world: Any) -> ToolResult:
        return ToolResult(letter * 100_000, {"lines": [letter * 100] * 100}, regions=regions)

    result = call_tool(Tool("t", "", Nothing, "other", run), {}, context, door="graph")
    kind, fields = context.events[-1]
    assert kind == "tool_result"
    assert len(json.dumps(fields)) < 63_000
    assert "of 100000 characters]" in fields["text"]
    assert result.data["lines"]


def test_data_for_a_model_is_one_line_of_whole_json() -> None:
    assert ToolResult("said", {"found": False}).for_model() == 'said\ndata: {"found":false}'
    assert ToolResult("said", ["x" * DATA_CAP]).for_model().endswith('data: {"truncated":true}')
    assert len(ToolResult("x" * 100_000).for_model()) < 9000


def test_every_tool_is_a_flat_function() -> None:
    for tool in all_tools():
        function = schema(tool)["function"]
        assert function["name"] == tool.name
        assert not {"$defs", "$ref", "anyOf"} & set(str(function).replace("'", " ").split())
        assert all("type" in spec for spec in function["parameters"]["properties"].values())


def test_a_tool_is_a_file() -> None:
    assert set(tool_names()) >= {"answer", "aircraft_registry", "crop_zoom", "ocr", "reverse_image_search"}
    with pytest.raises(UsageError, match="crop_zoom"):
        get_tool("crop")
