"""The items of a release, from what the steps decided; statistics as in FIKA-Bench's Table 1 and Figure 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.questions import answer_of
from fieldmark.evals.curation.records import STEPS, Candidate
from fieldmark.evals.curation.settings import model_key, takes_pictures

Item = dict[str, Any]
"""A row of the manifest, in the names that `evals/benchmarks/fika/fields.py` knows."""


def items(project: Project) -> Iterator[tuple[Candidate, Item]]:
    """Of what every step keeps, in the order of the ids. No provenance or EXIF is in them."""
    for each in project.candidates(after=STEPS[-1]):
        answer, aliases = answer_of(project, each)
        names, asked = _evidence(project, each, "taxonomy"), _evidence(project, each, "questions")
        urls = _evidence(project, each, "evidence").get("urls", [])
        yield (
            each,
            {
                "id": each.id,
                "image": f"images/{each.path.rpartition('/')[2]}",
                "question": asked["question"],
                "answer": answer,
                "aliases": aliases,
                "evidence": [url["url"] if isinstance(url, dict) else str(url) for url in urls],
                "split": project.settings.release.split,
                "top_category": names["top"],
                "mid_category": names["mid"],
                "source": each.source,
                "language": asked["language"],
                "licence": each.licence,
            },
        )


def _evidence(project: Project, candidate: Candidate, step: Any) -> dict[str, Any]:
    decided = project.decision(step, candidate.id)
    return decided.evidence if decided else {}


def statistics(project: Project, released: Sequence[Item]) -> dict[str, Any]:
    """Counts: composition and evidence as in Table 1, categories as in Figure 5, and the funnel before."""
    links = [link for item in released for link in item["evidence"]]
    domains = Counter((urlsplit(link).hostname or "").removeprefix("www.") for link in links)
    return {
        "items": len(released),
        "answers": len({item["answer"] for item in released}),
        "aliases": sum(len(item["aliases"]) for item in released),
        "evidence_links": len(links),
        "evidence_domains": len(domains),
        "by_domain": dict(sorted(domains.items(), key=lambda pair: (-pair[1], pair[0]))),
        **{
            f"by_{key}": _counted(item[key] for item in released) for key in ("source", "language", "licence")
        },
        "by_category": [
            {"top": top, "mid": mid, "items": count}
            for (top, mid), count in sorted(
                Counter((item["top_category"]["en"], item["mid_category"]["en"]) for item in released).items()
            )
        ],
        "corrected_labels": sum(item["answer"] != project.candidate(item["id"]).label for item in released),
        "funnel": [asdict(row) for row in project.funnel()],
        "screened_by": _screened_by(project),
        "settings": _without_servers({step: project.settings.of(step) for step in STEPS}),
    }


def _screened_by(project: Project) -> list[dict[str, str]]:
    return [
        {"screen": step, "model": model_key(model), "pictures": "shown" if takes_pictures(model) else "none"}
        for step, model in project.settings.screen.models()
    ]


def _without_servers(value: Any) -> Any:
    """Where models are served and which variable has their key is nobody else's."""
    if isinstance(value, dict):
        return {
            key: _without_servers(each) for key, each in value.items() if key not in ("base_url", "key_env")
        }
    return [_without_servers(each) for each in value] if isinstance(value, list) else value


def _counted(values: Iterator[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
