"""An agent that speaks Responses, and servers that do and do not."""

from __future__ import annotations

import pytest

from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.needs import Wire
from fieldmark.wires import check_wire
from tests.model_server import ModelServer, Reply


def test_a_server_without_the_route_is_refused() -> None:
    with (
        ModelServer([Reply("x")], speaks=("/v1/chat/completions",)) as server,
        pytest.raises(UsageError, match=r"agent codex speaks the responses format and .* has no /responses"),
    ):
        check_wire("responses", "codex", ModelConfig(name="scripted", base_url=server.url))


@pytest.mark.parametrize("wire", ["responses", "messages", "chat_completions"])
def test_a_server_that_has_it_is_taken(wire: Wire) -> None:
    with ModelServer([Reply(status=400)]) as server:
        check_wire(wire, "codex", ModelConfig(name="scripted", base_url=server.url))


def test_a_built_in_model_speaks_all() -> None:
    check_wire("responses", "codex", ModelConfig())
