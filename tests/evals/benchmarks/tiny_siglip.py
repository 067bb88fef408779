"""A SigLIP of two layers with random weights and a tokenizer of twelve words, made in a moment."""

from __future__ import annotations

from pathlib import Path

WORDS = "[PAD] [UNK] object bird flower car rose petunia mexican boeing 737 200".split()


def make(folder: Path) -> Path:
    """Whole, picture tower included, as a checkpoint of the hub is. Needs torch and transformers."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast, SiglipConfig, SiglipModel

    torch.manual_seed(7)
    sizes = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
    }  # fmt: skip
    text = {**sizes, "vocab_size": len(WORDS), "projection_size": 32, "pad_token_id": 0}
    SiglipModel(
        SiglipConfig(text_config=text, vision_config={**sizes, "image_size": 32, "patch_size": 16})
    ).save_pretrained(folder)
    words = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        folder
    )
    return folder
