"""`--protocol fika` fixes what the paper fixes, and nothing silently overrides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import protocol
from fieldmark.config import load_config
from fieldmark.errors import UsageError


def test_it_sets_the_time_limit_and_says_what_it_fixed(tmp_path: Path) -> None:
    toml = tmp_path / "run.toml"
    toml.write_text('protocol = "fika"\n[map]\nquestion = "ask"\n')
    config = load_config(toml, {"map": {"answer": "truth"}})
    assert config.limits.seconds == 240
    assert config.map == {"question": "ask", "answer": "truth"}
    assert protocol.describe(config.protocol) == {
        "protocol": {"name": "fika", "fixes": {"time_limit": 240.0, "memory": "off", "reply": "plain"}}
    }
    assert protocol.describe(None) == {}


@pytest.mark.parametrize(
    ("options", "word"),
    [({"time_limit": 60.0}, "--time-limit 60.0"), ({"memory": "inherit"}, "--memory inherit"),
     ({"limits": {"seconds": 60}}, "limits.seconds 60")],
)  # fmt: skip
def test_an_option_that_says_otherwise_is_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_config(None, {"protocol": "fika", **options})
    assert word in str(caught.value)
    assert "--protocol fika" in str(caught.value)
    assert load_config(None, {"protocol": "fika", "time_limit": 240.0}).limits.seconds == 240
