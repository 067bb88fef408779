"""The words for attributes: types, values and what may not be asked about, from a TOML file.

`lexicon.toml` holds those of the paper's rules and dialogues; an image set extends it by a file of the same
form. A type has `values` (value → phrases, the first being the one we ask with), `present`, phrases that
mean any of them, and `head`, words that only say where ("neckline"): with one of them, what is left of a
phrase without it names the value too ("is the neckline square?"). A prohibited type has `phrases`, or
`values` where images are labelled with them.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.constraint import ANY, Constraint

_CONTRAST = re.compile(r"\b(?:rather than|instead of|as opposed to)\b.*")
_NEGATION = re.compile(r"\b(?:no|not|without|lacks?|lacking|free of|n't)(?:\s+\w+){0,3}\s*$")


class AttributeType(BaseModel):
    """One kind of attribute; see the module's docstring."""

    model_config = ConfigDict(extra="forbid")

    head: list[str] = Field(default_factory=list)
    present: list[str] = Field(default_factory=list)
    values: dict[str, list[str]] = Field(default_factory=dict)


class Prohibited(BaseModel):
    """What may not be asked about, under the name that the rules give it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    phrases: list[str] = Field(default_factory=list)
    values: dict[str, list[str]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Mention:
    """A phrase found in a question. `value` is ANY for the type as such, and for prohibited phrases."""

    type: str
    value: str
    prohibited: bool
    negated: bool


class Lexicon(BaseModel):
    """All words. `noun` is what the images show."""

    model_config = ConfigDict(extra="forbid")

    noun: str = "dress"
    types: dict[str, AttributeType] = Field(default_factory=dict)
    prohibited: dict[str, Prohibited] = Field(default_factory=dict)

    def extended(self, more: Lexicon) -> Lexicon:
        """With the words of `more` after those that are here; its noun goes over ours."""
        types, banned = dict(self.types), dict(self.prohibited)
        for name, kind in more.types.items():
            old = types.get(name, AttributeType())
            types[name] = AttributeType(
                head=_union(old.head, kind.head),
                present=_union(old.present, kind.present),
                values=_merged(old.values, kind.values),
            )
        for name, ban in more.prohibited.items():
            was = banned.get(name, Prohibited(name=ban.name))
            banned[name] = Prohibited(
                name=was.name,
                phrases=_union(was.phrases, ban.phrases),
                values=_merged(was.values, ban.values),
            )
        return Lexicon(noun=more.noun, types=types, prohibited=banned)

    def mentions(self, question: str) -> list[Mention]:
        """The attributes in a question, in its order; the longest phrase wins a place."""
        text = _CONTRAST.sub("", folded(question))
        found = [self._mention(text, match.start(), match.group(1)) for match in self._pattern.finditer(text)]
        if not found:
            return self._by_head(text)
        return [*self._alternatives(text, found), *found]

    def constraint(self, question: str) -> Constraint | None:
        """What a question asks of one attribute; None where it names none that may be asked, or several."""
        found = self.mentions(question)
        if len({each.type for each in found}) != 1 or any(each.prohibited for each in found):
            return None
        values = [each.value for each in found]
        named = tuple(dict.fromkeys(value for value in values if value != ANY)) or (ANY,)
        return Constraint(type=found[0].type, values=named, negated=found[0].negated)

    def question(self, asked: Constraint) -> str:
        """Our words for a constraint that is not negated, such that `constraint` reads it back."""
        kind = self.types[asked.type]
        words = [kind.present[0] if value == ANY else kind.values[value][0] for value in asked.values]
        return f"Does your favorite {self.noun} have {' or '.join(words)}?"

    def _mention(self, text: str, start: int, phrase: str) -> Mention:
        kind, value, banned = self._meanings[phrase]
        return Mention(kind, value, banned, bool(_NEGATION.search(text[:start])))

    def _by_head(self, text: str) -> list[Mention]:
        """Values named apart from their head word, of the first type of which both are there."""
        for name, kind in self.types.items():
            heads = [head for head in kind.head if re.search(rf"\b{re.escape(_key(head))}s?\b", text)]
            bare = {rest: value for value, rest in _without_heads(kind) if rest} if heads else {}
            places = {text.find(word): word for word in bare if re.search(rf"\b{re.escape(word)}\b", text)}
            if places:
                said = [(at, bare[word]) for at, word in sorted(places.items())]
                return [Mention(name, value, False, bool(_NEGATION.search(text[:at]))) for at, value in said]
        return []

    def _alternatives(self, text: str, found: list[Mention]) -> list[Mention]:
        """What stands before an "or" without its head word: "a V or a square neckline"."""
        first = found[0]
        if first.prohibited or len({each.type for each in found}) > 1:
            return []
        bare = {rest: value for value, rest in _without_heads(self.types[first.type]) if rest}
        before = [bare[word] for word in bare if re.search(rf"\b{re.escape(word)} or\b", text)]
        return [Mention(first.type, value, False, first.negated) for value in dict.fromkeys(before)]

    @cached_property
    def _meanings(self) -> dict[str, tuple[str, str, bool]]:
        """Phrase → type, value, whether it is prohibited; what is prohibited goes first."""
        rows: list[tuple[str, tuple[str, str, bool]]] = []
        for name, ban in self.prohibited.items():
            phrases = [*ban.phrases, *(phrase for listed in ban.values.values() for phrase in listed)]
            rows += [(phrase, (name, ANY, True)) for phrase in phrases]
        for name, kind in self.types.items():
            rows += [(p, (name, value, False)) for value, listed in kind.values.items() for p in listed]
            rows += [(phrase, (name, ANY, False)) for phrase in kind.present]
        return {_key(phrase): meaning for phrase, meaning in reversed(rows)}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._meanings, key=len, reverse=True)
        return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(?:e?s)?\b")


def folded(text: str) -> str:
    """Lower case, hyphens and punctuation as one space; a "n't" becomes a word of its own."""
    plain = text.lower().replace("’", "'").replace("n't", " not")
    return " ".join(re.sub(r"[^\w']+", " ", plain).split())


def base_lexicon() -> Lexicon:
    """The words of the paper's rules and dialogues."""
    return Lexicon.model_validate(tomllib.loads((files(__package__) / "lexicon.toml").read_text("utf-8")))


def load_lexicon(path: Path) -> Lexicon:
    """A lexicon file of an image set, on top of the base. UsageError: it cannot be read."""
    try:
        own = Lexicon.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        said = " ".join(str(error).split())
        raise UsageError(f"{path} is no lexicon of attributes: {said[:200]}") from None
    return base_lexicon().extended(own)


def _key(phrase: str) -> str:
    """A phrase as it is looked for: folded, without its article and the s of a plural."""
    return re.sub(r"^(?:a|an) |(?<=[^s])s$", "", folded(phrase))


def _without_heads(kind: AttributeType) -> list[tuple[str, str]]:
    """(value, what is left of one of its phrases without a head word at its end)."""
    ends = [f" {_key(head)}" for head in kind.head]
    return [
        (value, _key(phrase).removesuffix(end))
        for value, listed in kind.values.items()
        for phrase in listed
        for end in ends
        if _key(phrase).endswith(end)
    ]


def _union(first: list[str], second: list[str]) -> list[str]:
    return [*dict.fromkeys([*first, *second])]


def _merged(old: dict[str, list[str]], new: dict[str, list[str]]) -> dict[str, list[str]]:
    return {value: _union(old.get(value, []), new.get(value, [])) for value in {**old, **new}}
