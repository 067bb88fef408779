"""taxonomy.toml: two levels with names in two languages, which classes belong where, and what is asked there.

[[category]]
top = { en = "Transport", zh = "交通" }
mid = { en = "Aircraft", zh = "飞机" }
classes = ["737-300", "737-400"]
language = "en"
questions = { en = ["Which aircraft variant is this?"], zh = ["这是哪种飞机型号？"] }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fieldmark.errors import UsageError
from fieldmark.evals.curation.deciding import Said
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.toml_file import read_toml_as

FILE = "taxonomy.toml"
Language = Literal["en", "zh"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Name(_Strict):
    """A category in both languages."""

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)


class Questions(_Strict):
    """Wordings for a category; which of them an item has is told by its id."""

    en: list[str] = []
    zh: list[str] = []


class Category(_Strict):
    """`classes` as the candidates have them. `language`: that of the questions of its items."""

    top: Name
    mid: Name
    classes: list[str]
    language: Language = "en"
    questions: Questions = Questions()


class Taxonomy(_Strict):
    """All categories; a class belongs to one."""

    category: list[Category] = []

    def of(self, class_name: str) -> Category | None:
        return next((each for each in self.category if class_name in each.classes), None)


def read_taxonomy(project: Project) -> Taxonomy:
    """UsageError: it is missing or wrong, or a class stands in two categories."""
    path = project.folder / FILE
    if not path.exists():
        raise UsageError(f"{path} is missing: `fieldmark curate taxonomy` writes one to fill in")
    found = read_toml_as(path, Taxonomy, "docs/curate.md")
    names = [name for each in found.category for name in each.classes]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: the class {double} stands twice: it belongs to one category")
    return found


def template(class_names: Sequence[str]) -> str:
    """A taxonomy.toml to fill in, with these classes in one category."""
    listed = ",\n    ".join(f'"{_escaped(name)}"' for name in sorted(class_names))
    return (
        "# One table a category: its names, its classes, and what is asked of them. docs/curate.md\n"
        "[[category]]\n"
        'top = { en = "", zh = "" }          # Product, Nature, Transport or Culture\n'
        'mid = { en = "", zh = "" }\n'
        'language = "en"                     # of the questions: en or zh\n'
        'questions = { en = ["Which kind is this, as specifically as possible?"], zh = [] }\n'
        f"classes = [\n    {listed},\n]\n"
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def categorise(candidates: Iterator[Candidate], taxonomy: Taxonomy) -> Iterator[Said]:
    """Keep what has a place; a class without one stays open."""
    for each in candidates:
        category = taxonomy.of(each.class_name)
        if category is None:
            yield Said(each.id, "open", f"the class {each.class_name} is in no category", {})
        else:
            names = {"top": category.top.model_dump(), "mid": category.mid.model_dump()}
            yield Said(each.id, "keep", f"{category.top.en} / {category.mid.en}", names)
