"""What a model can do, found out at a real server that can do it, or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fieldmark.commands.doctor import command
from fieldmark.config import load_config
from fieldmark.doctor.abilities import LOOK, Ability, examine
from fieldmark.doctor.asking import Model
from fieldmark.doctor.brief import try_model, warnings
from fieldmark.doctor.picture import ProbePicture, draw
from fieldmark.doctor.server import context_length, examine_server
from fieldmark.errors import UsageError
from fieldmark.run_models import try_models
from fieldmark.sandbox.gateway.endpoint import endpoint
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply
from tests.sandbox.gateway.web.conftest import certificates

SEED = 5


def of(server: ModelServer, url: str = "", **force: Any) -> Model:
    return Model("scripted", url or server.url, "TEST_KEY", force)


def pictures(body: Body) -> int:
    parts = [part for m in body.get("messages", []) for part in m["content"] or [] if isinstance(part, dict)]
    return sum(part["type"] == "image_url" for part in parts)


def named(probe: ProbePicture) -> Reply:
    return Reply(f"{probe.colour}, {probe.number}")


def clever(body: Body) -> Reply:
    """Does all that is asked. It has the pictures' seeds instead of eyes."""
    asked = str((body.get("messages") or [{"content": ""}])[-1]["content"])
    if pictures(body) == 2:
        return Reply(f"{draw(SEED + 1).number} and {draw(SEED + 1001).number}")
    if pictures(body):
        return named(draw(SEED + 2 if body["messages"][0]["content"][0] == "N" else SEED))
    if "two times" in asked:
        return Reply(calls=[Call("note_number", {"number": 3}), Call("note_number", {"number": 5})])
    return Reply(calls=[Call("note_number", {"number": 7})]) if body.get("tools") else Reply("ready to go")


def found(server: ModelServer) -> dict[str, Ability]:
    return {each.name: each for each in examine(of(server), SEED)}


def refused(message: str, code: str | None = None) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": None}
    return Reply(status=400, error=error)


def test_a_model_that_can_do_everything() -> None:
    with ModelServer([], preflight=clever) as server:
        abilities = found(server)
    assert {name: each.can for name, each in abilities.items()} == dict.fromkeys(abilities, True)
    assert abilities["usage reported"].said == "100 + 10 tokens"
    assert abilities["image input"].said.startswith(f"shown {draw(SEED).number} on {draw(SEED).colour}")
    assert len(abilities) == 13


def test_a_model_that_can_only_talk() -> None:
    def talks(body: Body) -> Reply:
        if pictures(body):
            return refused("this model takes no images")
        if body.get("tools"):
            return refused('"auto" tool choice requires --enable-auto-tool-choice')
        if "max_tokens" in body:
            return refused("Use 'max_completion_tokens' instead.", "unsupported_parameter")
        return Reply("ready", usage=None)

    with ModelServer([], preflight=talks, speaks=["/v1/chat/completions"]) as server:
        abilities = found(server)
    assert {name for name, each in abilities.items() if each.can} == {
        "plain text", "max_completion_tokens", "streaming",
    }  # fmt: skip
    assert abilities["tool call"].said == 'HTTP 400: "auto" tool choice requires --enable-auto-tool-choice'
    assert "HTTP 404" in abilities["Messages format"].said


def test_a_model_that_guesses_and_one_that_is_ignored_a_picture_are_found_out() -> None:
    with ModelServer([], preflight=[Reply("A blue square with the number 42.")]) as server:
        abilities = found(server)
    assert not abilities["image input"].can
    assert not abilities["several images"].can
    assert not abilities["tool call"].can
    assert "it said 'A blue square" in abilities["image input"].said


def test_a_server_that_is_busy_leaves_it_open() -> None:
    with ModelServer([], preflight=[Reply(status=503)]) as server:
        [text] = examine(of(server), SEED)
    assert (text.name, text.can) == ("plain text", None)


def test_where_servers_say_the_length_of_the_context() -> None:
    assert context_length({"id": "m", "max_model_len": 32768}) == 32768  # vLLM
    assert context_length({"id": "m", "meta": {"n_ctx": 8192}}) == 8192  # llama.cpp
    assert context_length({"id": "m"}) is None


def test_the_server_is_shown_with_its_final_url() -> None:
    with ModelServer([], preflight=clever) as server:
        by_name = {each.name: each for each in examine_server(of(server, f"{server.origin}/v1/v1/"))}
        other = examine_server(Model("unknown", server.url, "TEST_KEY", {}))
    assert by_name["server"].said == f"{server.url}/chat/completions"
    assert by_name["lists the model"].can
    assert (other[1].can, other[1].said) == (False, "it lists scripted")


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_every_spelling_of_a_base_url_reaches_the_model(tail: str) -> None:
    """Case 5-08."""
    with ModelServer([], preflight=clever) as server:
        assert next(examine(of(server, server.origin + tail), SEED)).can


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h/v1beta/openai/", "http://h/v1beta/openai/chat/completions"),
        ("http://h/openai/deployments/m?api-version=1", "http://h/openai/deployments/m/chat/completions?api-version=1"),
    ],
)  # fmt: skip
def test_other_prefixes_and_queries_are_left_alone(base: str, url: str) -> None:
    """Case 5-09."""
    assert endpoint(base, "/chat/completions") == url
    model = Model("m", base, "TEST_KEY", {})
    request = model.client._build_request(_options("/chat/completions"))
    assert str(request.url) == url


def _options(path: str) -> Any:
    from openai._models import FinalRequestOptions

    return FinalRequestOptions(method="post", url=path)


def test_a_private_ca_is_named_by_ssl_cert_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 5-17: for our own requests as for those of an agent."""
    served, _ = certificates(tmp_path)
    with ModelServer([], preflight=clever, tls=served) as server:
        with pytest.raises(UsageError, match=r"certificate is not trusted.*SSL_CERT_FILE"):
            examine_server(of(server))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
        assert next(examine(of(server), SEED)).can


# -- before a run ----------------------------------------------------------------------------------


def brief(server: ModelServer, **needs: Any) -> list[Ability]:
    return try_model(of(server, **needs.pop("force", {})), SEED, **{**NOTHING, **needs})


NOTHING: dict[str, Any] = {"tools": False, "pictures": 0, "counts": False}


def test_only_what_a_run_needs_is_tried() -> None:
    with ModelServer([], preflight=clever) as server:
        assert [each.name for each in brief(server)] == ["plain text"]
        assert [each.name for each in brief(server, pictures=1)] == ["image input"]
        names = [each.name for each in brief(server, tools=True, pictures=2, counts=True)]
        assert names == ["image input", "several images", "tool call", "usage reported"]
        assert len(server.preflights) == 6


def test_one_picture_a_request_is_told_with_the_servers_flag() -> None:
    """Case 5-16."""

    def one_image(body: Body) -> Reply:
        if pictures(body) > 1:
            return refused("At most 1 image(s) may be provided in one request.")
        return clever(body)

    with ModelServer([], preflight=one_image) as server:
        assert brief(server, pictures=1)[0].can
        with pytest.raises(UsageError, match=r"refuses several images .*At most 1.*--limit-mm-per-prompt"):
            brief(server, tools=True, pictures=2)


def test_a_parameter_that_is_refused_is_not_taken_for_the_picture() -> None:
    """Case 5-10."""
    error = {"message": "Unsupported value: 'temperature' does not support 0", "code": "unsupported_value"}
    told = "set the parameter that it names by --force"
    with (
        ModelServer([], preflight=[Reply(status=400, error=error)]) as server,
        pytest.raises(UsageError, match=told),
    ):
        brief(server, pictures=1)


def test_a_server_without_tool_calls_stops_a_run_that_needs_them() -> None:
    reply = refused('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
    told = r"refuses tool call .*vLLM: --enable-auto-tool-choice"
    with ModelServer([], preflight=[reply]) as server, pytest.raises(UsageError, match=told):
        brief(server, tools=True)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(status=404), r"/v1/chat/completions answered 404: check the URL"),
        (Reply(status=401), r"answered 401: check the URL, the model's name and the key"),
        (Reply(status=429, error={"message": "quota", "code": "insufficient_quota"}), "quota is used up"),
        (refused("'temperature' does not support 0", "unsupported_value"), "forced parameter temperature: "),
    ],
)  # fmt: skip
def test_what_would_break_every_episode_stops_the_run_before_it_begins(reply: Reply, told: str) -> None:
    """Cases 5-03, 5-08, 5-10, 5-20."""
    with ModelServer([], preflight=[reply]) as server:
        with pytest.raises(UsageError, match=told):
            brief(server, force={"temperature": 0})
        assert len(server.preflights) <= 2


def test_what_a_model_does_badly_is_a_warning_and_a_busy_server_too() -> None:
    with ModelServer([], preflight=[Reply("I see nothing."), Reply(status=503)]) as server:
        told = warnings("the model", brief(server, tools=True, pictures=1, counts=True))
        assert len(server.preflights) == 3  # after a 503 and its second try, nothing more is asked
    assert len(told) == 2
    assert told[0].startswith("preflight of the model: image input: no (shown ")
    assert told[1].startswith("preflight of the model: tool call: not found out (HTTP 503")


def test_a_built_in_model_is_not_tried() -> None:
    assert try_models(load_config(None, {}), uses_tools=True) == {}


# -- the command, and a run ------------------------------------------------------------------------


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)


def test_the_command_prints_a_line_for_each_ability() -> None:
    with ModelServer([], preflight=clever) as server:
        flags = ("--model", "scripted", "--base-url", server.url)
        text, told = doctor(*flags).stdout, json.loads(doctor(*flags, "--json").stdout)
    assert "yes   tool call: called note_number with [7]" in text
    assert "no    image input: shown " in text  # the command draws its own picture
    assert told["model"]["url"] == f"{server.url}/chat/completions"
    assert {each["name"]: each["can"] for each in told["model"]["abilities"]}["streaming"]


def test_a_server_that_is_not_there_fails(fieldmark: Fieldmark) -> None:
    done = fieldmark("doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "no    server: no model server answers at http://127.0.0.1:9/v1" in done.stdout
    wrong = fieldmark("doctor", "--model", "m", "--base-url", "localhost")
    assert (wrong.returncode, "--base-url, an http://" in wrong.stderr) == (2, True)


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_stores_what_its_preflight_found(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    flags = ("--benchmark", tiny, "--agent", "closed_book", "--model", "scripted", "--limit", 1)
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        done = fieldmark("run", *flags, "--base-url", server.url, "--out", "out")
        assert done.returncode == 0, done.stderr
        assert (len(server.preflights), len(server.requests)) == (1, 1)
    assert "preflight of the model: image input: no" in done.stderr
    model = json.loads((tmp_path / "out" / "run.json").read_text())["model"]
    assert model["preflight"]["image input"]["can"] is False
    assert LOOK not in (tmp_path / "out" / "run.json").read_text()
    assert model["pacing"]["most_at_once"] == 1
