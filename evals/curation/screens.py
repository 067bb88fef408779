"""The two screens, as rules over verdicts: which classes models do not know, and which samples of these.

FIKA-Bench, section 3.4: one model over N images a class keeps whole classes; then several models keep classes
below 40 %, and of these the wrong samples. Discard-oriented: what is in doubt (no answer, no clear verdict)
counts as known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from fieldmark.evals.curation.deciding import Said
from fieldmark.evals.curation.settings import FirstScreen, HardScreen

WRONG = frozenset({"incorrect", "partially_correct"})
RIGHT = "correct"
Verdicts = Mapping[str, str]
"""Candidate → the judge's label; `none` where the model gave no answer. Who was not asked is not there."""
Classes = Mapping[str, str]
"""Candidate → class."""


def sample(classes: Classes, images: int) -> list[str]:
    """The first `images` candidates of each class, by their ids, which no one chose."""
    return [name for members in _members(classes).values() for name in members[:images]]


def first(classes: Classes, verdicts: Verdicts, settings: FirstScreen) -> Iterator[Said]:
    """Keep a class whole where the model gets less than `keep_below` of its sample right."""
    for members in _members(classes).values():
        asked = members[: settings.images]
        missing = sum(name not in verdicts for name in asked)
        known = _known(asked, verdicts)
        evidence = {"known": known, "asked": len(asked)}
        keep = known < settings.keep_below * len(asked)
        for name in members:
            if missing:
                yield Said(name, "open", f"{missing} of {len(asked)} of its class are not asked yet", {})
            else:
                why = f"{known} of {len(asked)} of its class are known"
                yield Said(name, "keep" if keep else "drop", why, evidence)


def hard(classes: Classes, verdicts: Mapping[str, Verdicts], settings: HardScreen) -> Iterator[Said]:
    """`verdicts`: model → its verdicts. Keep the wrong samples of classes that the models do not know."""
    over = {"any": any, "all": all}
    for members in _members(classes).values():
        known = {model: _known(members, said) for model, said in verdicts.items()}
        is_hard = over[settings.classes](
            count < settings.keep_below * len(members) for count in known.values()
        )
        missing = sum(name not in said for said in verdicts.values() for name in members)
        for name in members:
            if missing or not verdicts:
                yield Said(name, "open", f"{missing} answers of its class are missing", {})
                continue
            answers = {model: said[name] for model, said in verdicts.items()}
            evidence = {"known": known, "of": len(members), "verdicts": answers}
            is_wrong = over[settings.samples](label in WRONG for label in answers.values())
            told = ", ".join(f"{count} of {len(members)} by {model}" for model, count in known.items())
            if not is_hard:
                yield Said(name, "drop", f"its class is known: {told}", evidence)
            elif is_wrong:
                yield Said(name, "keep", f"answered wrongly; of its class are known {told}", evidence)
            else:
                clear = all(label in WRONG | {RIGHT} for label in answers.values())
                yield Said(name, "drop" if clear else "open", "it is known, or in doubt", evidence)


def _members(classes: Classes) -> dict[str, list[str]]:
    members: dict[str, list[str]] = defaultdict(list)
    for name in sorted(classes):
        members[classes[name]].append(name)
    return members


def _known(names: list[str], verdicts: Verdicts) -> int:
    return sum(verdicts.get(name) not in WRONG for name in names)
