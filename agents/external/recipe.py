"""Recipe: a TOML file that says how an agent of others is installed, started and read (docs/recipes.md)."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fieldmark.errors import UsageError
from fieldmark.needs import Wire
from fieldmark.toml_file import read_toml_as

VALUES = (
    *("text", "picture", "workspace", "home", "skills"),
    *("base_url", "model", "sees", "context", "output", "seconds"),
)
"""What texts of a recipe may name as `$value`."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NPM = re.compile(r"(@[\w.-]+/)?[\w.-]+@\d[\w.+-]*")
_PIP = re.compile(r"[\w.-]+(\[[\w,.-]+\])?==\d[\w.!+-]*")
_PLACE = re.compile(r"\$(home|workspace)(/[^/$]+)+")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Install(_Strict):
    """Packages of the agent's image, each at one version: `name@1.2.3` for npm, `name==1.2.3` for pip."""

    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()

    @field_validator("npm", "pip")
    @classmethod
    def _pinned(cls, packages: tuple[str, ...], info: Any) -> tuple[str, ...]:
        pattern, example = (_NPM, "name@1.2.3") if info.field_name == "npm" else (_PIP, "name==1.2.3")
        for package in packages:
            if not pattern.fullmatch(package):
                raise ValueError(f"{package!r} is not pinned: write {example}")
        return packages


class Limits(_Strict):
    """What its container may use; `processors` are whole cores' worth of time."""

    memory_mb: int = Field(default=1024, ge=256)
    processors: float = Field(default=1.0, gt=0)
    pids: int = Field(default=256, ge=16)


class Start(_Strict):
    """`command` is run in the workspace, without a shell; `stdin` is what it can read, then its end."""

    command: tuple[str, ...] = Field(min_length=1)
    stdin: str = ""


class WithPicture(_Strict):
    """What a model that sees gets beside: more arguments of the command, a line more of `$text`."""

    arguments: tuple[str, ...] = ()
    text: str = ""


class Skills(_Strict):
    """Where the agent looks for folders with a `SKILL.md`."""

    folder: str


class Selector(_Strict):
    """One value of a JSON object. Keys are paths: `item.text`, `messages.-1.content`."""

    where: dict[str, str | bool | int] = {}
    field: str


class Memory(_Strict):
    """The files and folders that the agent reads again by itself when it starts anew."""

    places: tuple[str, ...] = ()

    @field_validator("places")
    @classmethod
    def _inside(cls, places: tuple[str, ...]) -> tuple[str, ...]:
        for place in places:
            if not _PLACE.fullmatch(place) or {"", ".", ".."} & set(place.split("/")):
                raise ValueError(f"{place!r}: write $home/… or $workspace/…")
        return places


class Answer(_Strict):
    """Where its answer is: in what it prints, or in `file`. `json` is one object, `jsonl` one a line, of
    which the last that has all of `where` and the `field` counts. `last` marks the line after which it has
    no more to say: should it not end then, it is ended.
    """

    format: Literal["text", "json", "jsonl"] = "text"
    file: str = ""
    where: dict[str, str | bool | int] = {}
    field: str = ""
    last: dict[str, str | bool | int] = {}


class Recipe(_Strict):
    """A whole recipe. `wire` is the format in which it asks its model. Without `answer`, the last thing its
    model said is the answer.
    """

    wire: Wire = "chat_completions"
    install: Install = Install()
    needs: Limits = Limits()
    run: Start
    picture: WithPicture = WithPicture()
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    skills: Skills | None = None
    memory: Memory = Memory()
    answer: Answer | None = None
    error: Selector | None = None


def read_recipe(file: Path) -> tuple[str, Recipe]:
    """Its name, which is the file's, and what it says. UsageError names the file, the key and the remedy."""
    name = file.name.removesuffix(".toml")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{file}: call it by small letters, digits and single dashes, such as my-agent.toml")
    recipe = read_toml_as(file, Recipe, "docs/recipes.md")
    for where, text in _templates(recipe):
        _check_template(f"{file}: {where}", text)
    _check_answer(recipe, f"{file}: answer")
    return name, recipe


def _check_answer(recipe: Recipe, where: str) -> None:
    answer = recipe.answer
    if answer is None:
        return
    if answer.format == "text" and (answer.field or answer.where or answer.last):
        raise UsageError(f"{where}: a text has no fields: set format to json or jsonl, or leave them out")
    if answer.format != "text" and not answer.field:
        raise UsageError(f'{where}.field: say which field of the {answer.format} is the answer: "result"')


def _templates(recipe: Recipe) -> list[tuple[str, str]]:
    """Every text in which values are put, and the key under which it stands."""
    texts = [("run.command", word) for word in recipe.run.command]
    texts += [("picture.arguments", word) for word in recipe.picture.arguments]
    texts += [("run.stdin", recipe.run.stdin), ("picture.text", recipe.picture.text)]
    texts += [(f"env.{key}", value) for key, value in recipe.env.items()]
    texts += [(f"files.{key}", text) for key, value in recipe.files.items() for text in (key, value)]
    if recipe.skills:
        texts.append(("skills.folder", recipe.skills.folder))
    if recipe.answer:
        texts.append(("answer.file", recipe.answer.file))
    return texts


def _check_template(where: str, text: str) -> None:
    template = Template(text)
    if not template.is_valid():
        raise UsageError(f"{where}: a $ that names no value: write $$ for a dollar sign")
    for named in template.get_identifiers():
        if named not in VALUES:
            known = ", ".join(f"${value}" for value in VALUES)
            raise UsageError(f"{where}: no value ${named}: there are {known}; $$ is a dollar sign")
