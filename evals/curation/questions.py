"""What each item is asked, by the wordings of its category; none may say the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from fieldmark.evals.curation.deciding import Said
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.evals.curation.taxonomy import Taxonomy
from fieldmark.evals.judges.normalise import words


def question_all(project: Project, candidates: Iterator[Candidate], taxonomy: Taxonomy) -> Iterator[Said]:
    """A question for each; one that gives its answer away, or none, leaves it open."""
    for each in candidates:
        category = taxonomy.of(each.class_name)
        wordings = getattr(category.questions, category.language) if category else []
        if not category or not wordings:
            yield Said(each.id, "open", f"no question for the class {each.class_name}", {})
            continue
        question = wordings[int(hashlib.sha256(each.id.encode()).hexdigest(), 16) % len(wordings)]
        answer, aliases = answer_of(project, each)
        leak = given_away(question, [answer, *aliases, each.label, each.class_name])
        told = {"question": question, "language": category.language}
        if leak:
            yield Said(each.id, "open", f"the question says {leak!r}", told)
        else:
            yield Said(each.id, "keep", "the question does not say the answer", told)


def answer_of(project: Project, candidate: Candidate) -> tuple[str, list[str]]:
    """The answer as the audit corrected it, and its other spellings; without an audit the inherited label."""
    audited = project.decision("audit", candidate.id)
    told = audited.evidence if audited else {}
    return str(told.get("label") or candidate.label), [str(each) for each in told.get("aliases", [])]


def given_away(question: str, spellings: Sequence[str]) -> str | None:
    """The first spelling whose words stand in the question in a row; case and signs do not matter."""
    asked = words(question)
    for spelling in spellings:
        wanted = words(spelling)
        if wanted and any(
            asked[at : at + len(wanted)] == wanted for at in range(len(asked) - len(wanted) + 1)
        ):
            return spelling
    return None
