"""The one connection to the engine."""

from __future__ import annotations

import pytest

from fieldmark.sandbox.engine import connect


def test_an_engine_at_a_unix_socket_is_reached_whatever_proxy_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client = connect()
    assert client.api.trust_env is False
    assert client.version()["Version"]
