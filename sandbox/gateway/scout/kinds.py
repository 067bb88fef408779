"""Which kinds of thing a question asks for, in the groups of the classifier's classes.

Only kinds whose classes are as fine as such a question wants: a breed for a dog, but for a car no model.
"""

from __future__ import annotations

import re

_CATS = ("domestic cat", "wild cat")
_MAMMALS = ("mammal", "primate", "bear", "dog", "wild canine", *_CATS)
_ANIMALS = (
    *_MAMMALS, "bird", "fish", "reptile", "amphibian", "insect", "arachnid", "crustacean", "invertebrate",
)  # fmt: skip
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:dog|breed)s?\b|犬|狗", ("dog",)),
    (r"\bcats?\b|猫", _CATS),
    (r"\bbirds?\b|鸟", ("bird",)),
    (r"\bfish(?:es)?\b|鱼", ("fish",)),
    (r"\b(?:insect|beetle|butterfly|moth)s?\b|昆虫|蝴蝶|甲虫", ("insect",)),
    (r"\bspiders?\b|蜘蛛", ("arachnid",)),
    (r"\b(?:snake|lizard|turtle|reptile)s?\b|蛇|蜥蜴|龟", ("reptile",)),
    (r"\b(?:frog|toad|amphibian)s?\b|蛙", ("amphibian",)),
    (r"\b(?:monkey|ape|primate)s?\b|猴|猿", ("primate",)),
    (r"\bmammals?\b|哺乳", _MAMMALS),
    (r"\banimals?\b|动物", _ANIMALS),
    (r"\b(?:flower|plant)s?\b|花|植物", ("plant",)),
    (r"\b(?:mushroom|fungus|fungi)\b|蘑菇|菌", ("fungus",)),
    (r"\bfruits?\b|水果", ("fruit",)),
    (r"\bvegetables?\b|蔬菜", ("vegetable",)),
    (r"\b(?:drink|beverage)s?\b|饮料|饮品", ("drink",)),
    (r"\b(?:food|dish|dessert|meal)(?:e?s)?\b|食物|食品|菜|甜点", ("food", "drink", "fruit", "vegetable")),
    (r"\b(?:musical )?instruments?\b|乐器", ("musical instrument",)),
)


def asked_groups(question: str) -> frozenset[str]:
    """The groups that would answer the question; empty when it asks for nothing that the classifier knows."""
    found = (groups for words, groups in _KINDS if re.search(words, question, re.IGNORECASE))
    return frozenset(next(found, ()))
