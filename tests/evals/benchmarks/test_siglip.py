"""The text tower of SigLIP by `transformers`, on tiny random weights; without the extra, one line says so."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.fine_r1.siglip import MAX_LENGTH, TextTower
from fieldmark.evals.benchmarks.fine_r1.similarity import relative_similarity
from fieldmark.evals.judges.base import Given
from fieldmark.task import Gold
from tests.evals.benchmarks import tiny_siglip

HAS_EXTRA = bool(importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"))
needs_extra = pytest.mark.skipif(not HAS_EXTRA, reason="needs the extra [siglip]: torch and transformers")


@needs_extra
def test_a_tower_of_a_folder_embeds_as_the_whole_model_does(tmp_path: Path) -> None:
    import torch
    from transformers import AutoTokenizer, SiglipModel

    folder = tiny_siglip.make(tmp_path / "tiny-siglip")
    tower = TextTower(str(folder))
    assert tower.similarity("rose", "rose") == pytest.approx(1, abs=1e-5)
    found = tower.similarity("mexican petunia", "petunia")
    assert -1 <= found < 1

    model, tokenizer = SiglipModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    asked = tokenizer(
        ["mexican petunia", "petunia"], padding="max_length", max_length=MAX_LENGTH, return_tensors="pt"
    )
    with torch.inference_mode():
        one, other = model.text_model(input_ids=asked["input_ids"]).pooler_output
    assert found == pytest.approx(torch.cosine_similarity(one, other, dim=0).item(), abs=1e-5)
    assert asked["input_ids"].shape == (2, MAX_LENGTH)


@needs_extra
def test_the_score_is_relative_to_the_super_category(tmp_path: Path) -> None:
    tower = TextTower(str(tiny_siglip.make(tmp_path / "tiny-siglip")))
    gold = Gold(answer="rose", kind="bird")
    assert relative_similarity(
        Given("rose", "<answer>rose</answer>"), gold, tower, "official"
    ) == pytest.approx(1)
    assert relative_similarity(Given("object", "object"), gold, tower, "official") == 0
    assert relative_similarity(Given("bird", "bird"), gold, tower, "ours") == 0
    told = tower.described()
    assert (told["model"], told["max_length"], len(told["sha256"])) == ("tiny-siglip", 64, 64)


@needs_extra
def test_a_folder_that_holds_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"--siglip .* cannot be loaded .*: name a folder that holds it"
    ) as caught:
        TextTower(str(tmp_path)).check()
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(HAS_EXTRA, reason="the extra [siglip] is installed")
def test_without_the_extra_one_line_says_how_to_install_it() -> None:
    with pytest.raises(UsageError, match=r"pip install 'fieldmark\[siglip\]'"):
        TextTower().check()
