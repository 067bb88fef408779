"""`--protocol` fixes what a paper fixes, and nothing silently overrides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import protocol
from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.runner import ATTEMPTS


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


def test_pix2fact_asks_for_five_keys_and_presets_the_decoding() -> None:
    config = load_config(None, {"protocol": "pix2fact"})
    assert config.model.force == {"temperature": 0, "max_tokens": 8192, "max_output_tokens": 16000}
    assert protocol.reply_form(config.protocol) == "pix2fact"
    assert config.limits.seconds == 240
    assert load_config(None, {"protocol": "pix2fact", "time_limit": 600.0}).limits.seconds == 600


def test_the_attempts_of_pix2fact_are_the_runners() -> None:
    assert protocol.FIXED["pix2fact"]["attempts"] == ATTEMPTS


@pytest.mark.parametrize(
    ("force", "sent"),
    [
        ({"temperature": 1}, {"temperature": 1, "max_tokens": 8192, "max_output_tokens": 16000}),
        ({"max_completion_tokens": 500}, {"temperature": 0, "max_completion_tokens": 500}),
    ],
)
def test_what_is_forced_stands_over_the_preset(
    tmp_path: Path, force: dict[str, Any], sent: dict[str, Any]
) -> None:
    """GPT-5 takes temperature 1 only: the paper's own exception."""
    assert load_config(None, {"protocol": "pix2fact", "force": force}).model.force == sent
    toml = tmp_path / "run.toml"
    pairs = ", ".join(f"{key} = {value}" for key, value in force.items())
    toml.write_text(f'protocol = "pix2fact"\nmodel = {{ name = "m", force = {{ {pairs} }} }}\n')
    assert load_config(toml, {}).model.force == sent


def test_pix2fact_has_no_memory() -> None:
    with pytest.raises(UsageError, match="--memory inherit contradicts --protocol pix2fact"):
        load_config(None, {"protocol": "pix2fact", "memory": "inherit"})
