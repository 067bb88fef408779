"""builtin/scout: a pure function from requests to calls, played here against scripted tool results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from fieldmark.sandbox.gateway.scout.evidence import clean_title
from fieldmark.sandbox.gateway.scout.policy import SEES, ScoutReply, respond

Json = dict[str, Any]
ALL = ["ocr", "crop_zoom", "aircraft_registry", "reverse_image_search", "answer"]

NOTHING_READ = {"found": False, "lines": [], "registrations": []}
MARK = {
    "found": True,
    "lines": [{"text": "N8710M", "confidence": 0.93, "box": [10, 20, 90, 40]}],
    "registrations": [
        {"text": "N8710M", "raw": "N8710M", "confidence": 0.93, "box": [10, 20, 90, 40], "nation": "US"}
    ],
}
RECORD = {
    "registration": "N8710M", "icao24": "abc123", "type": "B38M", "manufacturer": "Boeing",
    "model": "737 MAX 8", "operator": "Southwest Airlines", "built": 2021, "source": "sample",
    "date": "2024-05-01",
}  # fmt: skip
FOUND = {"found": True, "records": [RECORD], "candidates": [], "nation": "United States"}
NOT_FOUND = {"found": False, "records": [], "candidates": [], "nation": None}
HIT = {
    "rank": 1,
    "title": "Panda plush toy - Example Shop",
    "page": "https://example.org/p",
    "source": "exampleshop.org",
    "score": 0.81,
    "same_picture": False,
}
NO_HITS = {"found": False, "hits": []}


def offered(name: str, parameters: Json | None = None) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": parameters or {}}}


def request(question: str = "What is this?", names: list[str] | None = None) -> Json:
    tools = [offered(name) for name in (ALL if names is None else names)]
    return {"messages": [{"role": "user", "content": f"Question: {question}"}], "tools": tools}


def play(
    body: Json, results: dict[str, Any], key: Callable[[Json], str] = lambda call: str(call["name"]),
    said: str = "some text",
) -> Any:  # fmt: skip
    """Answer scout's calls from `results`, each after what is `said`, until it answers: (the calls in order,
    its last reply).
    """
    made: list[Json] = []
    for turn in range(10):
        reply = respond(body)
        if not reply.tool_calls or "answer" in key(reply.tool_calls[0]):
            return made + reply.tool_calls, reply
        rows = [(f"c{turn}_{n}", call) for n, call in enumerate(reply.tool_calls)]
        made += reply.tool_calls
        body["messages"].append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": i, "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}}
                    for i, c in rows
                ],
            }
        )
        for call_id, call in rows:
            data = results.get(key(call))
            text = said if data is None else f"{said}\ndata: {json.dumps(data)}"
            body["messages"].append({"role": "tool", "tool_call_id": call_id, "content": text})
    raise AssertionError("scout does not come to an end")


def names(made: list[Json]) -> list[str]:
    return [call["name"] for call in made]


def final(made: list[Json]) -> Json:
    arguments = made[-1]["arguments"]
    assert isinstance(arguments, dict)
    return arguments


def test_it_says_that_it_has_no_eyes() -> None:
    assert SEES is False


def test_a_registration_is_read_and_looked_up() -> None:
    made, _ = play(request(), {"ocr": MARK, "aircraft_registry": FOUND})
    assert names(made) == ["ocr", "aircraft_registry", "answer"]
    assert made[0]["arguments"] == {"mode": "registration"}
    assert made[1]["arguments"] == {"registration": "N8710M"}
    assert final(made)["text"] == "Boeing 737 MAX 8"
    assert set(final(made)) == {"text", "confidence", "rationale", "evidence"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which airline operates it?", "Southwest Airlines"),
        ("What is its registration?", "N8710M"),
        ("What aircraft type is this?", "Boeing 737 MAX 8"),
        ("这架飞机是什么型号？", "Boeing 737 MAX 8"),
    ],
)
def test_what_is_asked_of_the_record(question: str, answer: str) -> None:
    made, _ = play(request(question), {"ocr": MARK, "aircraft_registry": FOUND})
    assert final(made)["text"] == answer


def classes(name: str, group: str, score: float) -> Json:
    """A classifier's reply: its best class, and another."""
    best = {"name": name, "group": group, "score": score}
    return {"found": score >= 0.5, "classes": [best, {"name": "bagel", "group": "food", "score": 0.01}]}


@pytest.mark.parametrize(
    ("question", "name", "group", "score", "answer"),
    [
        ("Which coffee drink is in the cup?", "espresso", "drink", 0.9, "espresso"),
        ("What breed is this dog?", "Groenendael (Belgian Shepherd)", "dog", 0.8, "Groenendael"),
        ("这是什么动物？", "polar bear", "bear", 0.7, "polar bear"),
        ("Which flower is this?", "daisy", "plant", 0.3, "unknown"),  # a low score
        ("Which bird is this?", "airliner", "aircraft", 0.9, "unknown"),  # of another kind
    ],
)
def test_where_nothing_is_found_a_likely_class_of_the_asked_kind_is_the_answer(
    question: str, name: str, group: str, score: float, answer: str
) -> None:
    body = request(question, [*ALL, "classify_image"])
    results = {
        "ocr": NOTHING_READ,
        "reverse_image_search": NO_HITS,
        "classify_image": classes(name, group, score),
    }
    made, _ = play(body, results)
    assert names(made) == ["ocr", "reverse_image_search", "classify_image", "answer"]
    assert final(made)["text"] == answer
    assert final(made)["confidence"] < score


@pytest.mark.parametrize("question", ["Which car is this?", "In which city was this taken?"])
def test_the_classifier_is_not_asked_for_what_it_does_not_know(question: str) -> None:
    results = {"ocr": NOTHING_READ, "reverse_image_search": NO_HITS}
    made, _ = play(request(question, [*ALL, "classify_image"]), results)
    assert "classify_image" not in names(made)


def test_a_verified_hit_goes_before_any_class() -> None:
    found = {"found": True, "hits": [HIT]}
    results = {
        "ocr": NOTHING_READ,
        "reverse_image_search": found,
        "classify_image": classes("lion", "wild cat", 1),
    }
    made, _ = play(request("Which animal is this?", [*ALL, "classify_image"]), results)
    assert names(made) == ["ocr", "reverse_image_search", "answer"]
    assert final(made)["text"] == "Panda plush toy"


def test_of_records_that_disagree_the_newest_with_less_confidence() -> None:
    old = {**RECORD, "manufacturer": "Airbus", "model": "A330", "date": "2010-01-01"}
    made, _ = play(request(), {"ocr": MARK, "aircraft_registry": {**FOUND, "records": [old, RECORD]}})
    assert final(made)["text"] == "Boeing 737 MAX 8"
    assert final(made)["confidence"] < 0.9


def test_a_misread_mark_with_one_registered_neighbour() -> None:
    near = {"registration": "N8710M", "changed": [], "record": RECORD}
    made, _ = play(request(), {"ocr": MARK, "aircraft_registry": {**NOT_FOUND, "candidates": [near]}})
    assert final(made)["text"] == "Boeing 737 MAX 8"
    assert final(made)["confidence"] == 0.5


def test_it_looks_closer_where_text_was_hard_to_read() -> None:
    blurred = {**NOTHING_READ, "lines": [{"text": "N87", "confidence": 0.4, "box": [10, 20, 90, 40]}]}
    made, _ = play(request(), {"ocr": blurred, "reverse_image_search": NO_HITS})
    assert names(made) == ["ocr", "crop_zoom", "ocr", "reverse_image_search", "answer"]
    assert made[1]["arguments"] == {"x1": 0.0, "y1": 10.0, "x2": 100.0, "y2": 50.0, "space": "pixel"}
    assert final(made)["text"] == "unknown"
    assert final(made)["confidence"] == 0.0


def test_a_verified_hit_is_answered_by_its_title() -> None:
    again = {**HIT, "title": "the task picture", "score": 1.0, "same_picture": True}
    results = {"ocr": NOTHING_READ, "reverse_image_search": {"found": True, "hits": [again, HIT]}}
    made, _ = play(request(), results)
    assert names(made) == ["ocr", "reverse_image_search", "answer"]
    assert final(made)["text"] == "Panda plush toy"
    assert final(made)["evidence"] == ["https://example.org/p"]


def test_a_look_alike_is_no_evidence() -> None:
    results = {"ocr": NOTHING_READ, "reverse_image_search": {"found": True, "hits": [{**HIT, "score": 0.3}]}}
    made, _ = play(request(), results)
    assert final(made)["text"] == "unknown"


SIGN = {**NOTHING_READ, "lines": [{"text": "HOTEL", "confidence": 0.9}, {"text": "ADLON", "confidence": 0.8}]}


@pytest.mark.parametrize(
    "question", ["What does the sign say?", "招牌上写着什么？", "Which text is written here?"]
)
def test_a_text_that_is_asked_for_needs_no_search(question: str) -> None:
    made, _ = play(request(question), {"ocr": SIGN, "reverse_image_search": {"found": True, "hits": [HIT]}})
    assert names(made) == ["ocr", "ocr", "answer"]
    assert made[1]["arguments"] == {"mode": "text", "lang": "en" if question.isascii() else "en+zh"}
    assert final(made)["text"] == "HOTEL ADLON"


def test_a_name_is_searched_for_first() -> None:
    results = {"ocr": SIGN, "reverse_image_search": {"found": True, "hits": [HIT]}}
    made, _ = play(request("What is the brand of this?"), results)
    assert final(made)["text"] == "Panda plush toy"
    made, _ = play(request("What is the name of this hotel?"), {**results, "reverse_image_search": NO_HITS})
    assert final(made)["text"] == "HOTEL ADLON"


@pytest.mark.parametrize("missing", ALL)
def test_a_missing_tool_is_a_step_that_is_skipped(missing: str) -> None:
    left = [name for name in ALL if name != missing]
    made, reply = play(request(names=left), {"ocr": MARK, "aircraft_registry": FOUND})
    assert missing not in names(made)
    if missing == "answer":
        assert reply == ScoutReply("Boeing 737 MAX 8")


@pytest.mark.parametrize(
    "form", ["mcp__fieldmark__{}", "fieldmark_{}", "fieldmark.{}", "{}__fieldmark", "functions.{}"]
)
def test_tools_under_other_names(form: str) -> None:
    body = request(names=[form.format(name) for name in ALL] + ["bash"])
    made, _ = play(body, {form.format("ocr"): MARK, form.format("aircraft_registry"): FOUND})
    assert names(made) == [form.format(name) for name in ("ocr", "aircraft_registry", "answer")]


def test_foreign_tools_are_left_alone() -> None:
    assert respond(request(names=["ask_answer", "document_ocr_scan", "web_search"])).tool_calls == []


@pytest.mark.parametrize("shell", ["bash", "exec", "shell", "run_shell_command", "exec_command", "Bash"])
def test_through_a_shell(shell: str) -> None:
    results = {"ocr": MARK, "aircraft_registry": FOUND, "answer": {}}
    required = {"properties": {"command": {"type": "string"}, "description": {"type": "string"}},
                "required": ["command", "description"]}  # fmt: skip
    body = {
        "messages": [{"role": "user", "content": "What aircraft is it?"}],
        "tools": [offered(shell, required)],
    }
    commands: list[list[str]] = []
    for turn in range(5):
        reply = respond(body)
        if not reply.tool_calls:
            break
        [call] = reply.tool_calls
        assert call["name"] == shell
        assert call["arguments"]["description"]
        commands.append(shlex.split(call["arguments"]["command"]))
        line = json.dumps({"ok": True, "text": "…", "data": results[commands[-1][2]], "pictures": []})
        function = {"name": shell, "arguments": json.dumps(call["arguments"])}
        body["messages"] += [
            {"role": "assistant", "tool_calls": [{"id": f"t{turn}", "function": function}]},
            {"role": "tool", "tool_call_id": f"t{turn}", "content": f"$ ran\n{line}\n"},
        ]
    assert [words[:3] for words in commands] == [
        ["fieldmark", "tool", name] for name in ("ocr", "aircraft_registry")
    ]  # and the answer in words: `answer` is not in its list
    assert json.loads(commands[0][4]) == {"mode": "registration"}
    assert reply == ScoutReply("Boeing 737 MAX 8")


def test_a_shell_without_our_command_still_ends() -> None:
    _, reply = play(request(names=["bash"]), {}, key=lambda call: "sh")
    assert reply == ScoutReply("unknown")


def test_requests_without_tools() -> None:
    assert respond({"messages": [{"role": "user", "content": "Give this chat a title"}]}) == ScoutReply(
        "unknown"
    )
    asks = {"role": "system", "content": 'Reply with one JSON object: {"answer": …, "confidence": …}'}
    said = respond({"messages": [asks, {"role": "user", "content": "What is it?"}]}).text
    assert json.loads(said or "")["answer"] == "unknown"
    assert "no vision" in json.loads(said or "")["rationale"]


def test_a_last_turn_without_tools_uses_what_was_found() -> None:
    body = request(names=["ocr", "aircraft_registry"])
    play(body, {"ocr": MARK, "aircraft_registry": FOUND})
    del body["tools"]
    body["messages"].append({"role": "user", "content": 'Reply with JSON {"answer": …} now.'})
    assert json.loads(respond(body).text or "")["answer"] == "Boeing 737 MAX 8"


BROKEN_CALL = {"id": "a", "function": {"name": "ocr", "arguments": "{"}}
BROKEN_DATA = 'data: [1]\ndata: {"lines": 3, "registrations": [7, {}]}'


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "x",
        {},
        {"messages": None, "tools": 3},
        {"messages": [None, 5, {"role": "tool"}]},
        {"messages": [{"role": "user", "content": {"a": 1}}], "tools": [None, {}, {"function": 7}]},
        {"messages": [{"role": "assistant", "tool_calls": [None, {"function": None}, {"id": []}]}]},
        {
            "messages": [
                {"role": "assistant", "tool_calls": [BROKEN_CALL]},
                {"role": "tool", "tool_call_id": "a", "content": BROKEN_DATA},
            ],
            "tools": [offered("ocr")],
        },
        {
            "messages": [{"role": "user", "content": [{"type": "image_url"}, None, {"type": "text"}]}],
            "tools": [offered("bash", {"properties": [], "required": {"a": 1}})],
        },
    ],
)
def test_odd_requests_never_raise(body: Any) -> None:
    reply = respond(body)
    assert reply.text or reply.tool_calls


ODD = [None, 0, -1.5, float("nan"), True, "x", "", [], [None], {}, {"a": None}, [1, 2, 3, 4], ["a"] * 4]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "field", ["text", "confidence", "box", "score", "title", "page", "source", "model", "date"]
)
def test_odd_fields_of_results_never_raise(field: str, odd: Any) -> None:
    line, mark = MARK["lines"][0], MARK["registrations"][0]  # type: ignore[index]
    read = {"lines": [{**line, "confidence": 0.3, field: odd}], "registrations": [{**mark, field: odd}]}
    record = {"records": [{**RECORD, field: odd}, RECORD], "candidates": [{"record": odd}, odd]}
    hits = {"hits": [{**HIT, field: odd}, odd]}
    for looked_up in (record, NOT_FOUND):
        results = {"ocr": read, "aircraft_registry": looked_up, "reverse_image_search": hits}
        made, _ = play(request("What does the sign say?"), results)
        assert isinstance(final(made)["text"], str)
        json.dumps(made, allow_nan=False)


@pytest.mark.parametrize(
    ("title", "source", "clean"),
    [
        ("Saab 340 - Wikipedia", "en.wikipedia.org", "Saab 340"),
        ("File:Saab 340 (SE-LJS).jpg - Wikimedia Commons", "", "Saab 340"),
        ("Panda plush | Amazon.com", "www.amazon.com", "Panda plush"),
        ("Coca-Cola - The Shop - Example Shop", "exampleshop.org", "Coca-Cola"),
        ("Aloe - 2006 Stereo Datasets with Ground Truth", "vision.example.edu", "Aloe"),
        ("Wikipedia: Saab 340 | Wikipedia", "wikipedia.org", "Wikipedia: Saab 340"),
        ("Boeing 737-800", "", "Boeing 737-800"),
        ("Wikipedia", "wikipedia.org", "Wikipedia"),
        ("", "", ""),
    ],
)
def test_titles_lose_the_name_of_the_site_and_remarks(title: str, source: str, clean: str) -> None:
    assert clean_title(title, source) == clean


def test_a_history_in_text_and_a_tool_that_ends_it() -> None:
    """smolagents writes calls and results as messages, and takes its answer by `final_answer`."""
    call = {"id": "c", "type": "function", "function": {"name": "ocr", "arguments": {"mode": "registration"}}}
    body: Json = {
        "tools": [{"function": {"name": name}} for name in ("ocr", "aircraft_registry", "final_answer")],
        "messages": [
            {"role": "user", "content": 'Which aircraft is it? Reply in JSON: {"answer": …}'},
            {"role": "assistant", "content": f"Calling tools:\n{[call]}"},
            {"role": "user", "content": f"Observation:\nRead.\ndata: {json.dumps(MARK)}"},
        ],
    }
    [look_up] = respond(body).tool_calls
    assert look_up == {"name": "aircraft_registry", "arguments": {"registration": "N8710M"}}

    call["function"] = look_up
    body["messages"] += [
        {"role": "assistant", "content": f"Calling tools:\n{[call]}"},
        {"role": "user", "content": f"Observation:\nKnown.\ndata: {json.dumps(FOUND)}"},
    ]
    [end] = respond(body).tool_calls
    assert end["name"] == "final_answer"
    assert "737" in json.loads(end["arguments"]["answer"])["answer"]


def test_a_shells_output_in_json_of_its_own() -> None:
    """mini-swe-agent wraps what a command printed."""
    printed = json.dumps({"ok": True, "text": "Read.", "data": MARK, "pictures": []})
    shell = {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}
    command = 'fieldmark tool ocr --json \'{"mode": "registration"}\''
    call = {"id": "c", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    wrapped = json.dumps({"returncode": 0, "output": printed + "\n"}, indent=2)
    body = {
        "tools": [{"function": shell}],
        "messages": [
            {"role": "user", "content": "Which aircraft is it?"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": wrapped},
        ],
    }
    [next_call] = respond(body).tool_calls
    assert "N8710M" in next_call["arguments"]["command"]


def test_where_there_is_a_memory_it_notes_who_operates_what_it_found() -> None:
    """Once, by the number that the result states, and with a note that looks like a question before it."""
    results = {"ocr": MARK, "aircraft_registry": FOUND}
    body = request(names=[*ALL, "recall", "remember"])
    body["messages"][0]["content"] = "Notes:\n- (operator) Question: what?\n\nQuestion: What is this?"
    made, _ = play(body, results, said="some text\n(result 7)")
    assert names(made) == ["ocr", "aircraft_registry", "remember", "answer"]
    note = made[2]["arguments"]
    assert note == {"text": "N8710M is operated by Southwest Airlines.", "kind": "operator", "cites": [7]}
    made, _ = play(request(names=[*ALL, "recall", "remember"]), results)
    assert "remember" not in names(made)
