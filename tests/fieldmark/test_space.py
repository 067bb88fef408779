"""The space of a model's boxes: the flag goes over the file, the file over what is known of its family."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.run_models import with_space


@pytest.mark.parametrize(
    ("text", "flag", "space"),
    [
        ('model = {name = "qwen3-vl-8b", space = "sent"}', None, "sent"),
        ('model = {name = "qwen3-vl-8b", space = "sent"}', "fraction", "fraction"),
        ('model = "qwen3-vl-8b"\nspace = "pixel"', None, "pixel"),
        ('model = "qwen3-vl-8b"', None, "norm1000"),
        ('model = "gpt-5-mini"', None, "pixel"),
        ("", None, "pixel"),
    ],
)
def test_where_it_comes_from(tmp_path: Path, text: str, flag: str | None, space: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    assert with_space(load_config(path, {"space": flag}).model).space == space


def test_it_is_settled_once() -> None:
    """run.json holds the space of the run, which a resumed run keeps whatever is known by then."""
    settled = with_space(ModelConfig(name="qwen2.5-vl-7b"))
    assert with_space(settled) == settled


def test_an_unknown_space_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('model = {name = "x", space = "percent"}')
    with pytest.raises(UsageError, match=r"model\.space: .*'norm1000'.*percent"):
        load_config(path, {})
