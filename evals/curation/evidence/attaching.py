"""URLs that persons name as evidence: in the audit page, or in a CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import urlsplit

from fieldmark.errors import UsageError
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Step

STEP: Step = "evidence"
AFTER: Step = "audit"


def attach_all(project: Project, file: Path, who: str) -> int:
    """Take over a CSV with the columns `candidate` and `url`; how many URLs are new. UsageError: the first
    bad row with its line, and nothing of the file is taken.
    """
    with project.writing():
        return sum(attach(project, candidate, [url], who) for candidate, url in _rows(project, file))


def attach(project: Project, candidate: str, urls: list[str], who: str) -> int:
    """How many of them are new."""
    known = attached(project, candidate)
    new = [url for url in dict.fromkeys(urls) if url not in known]
    if new:
        was = project.decision(STEP, candidate)
        evidence = {**(was.evidence if was else {}), "attached": [*known, *new]}
        project.decide(STEP, candidate, "open", "not checked yet", who=who, evidence=evidence)
    return len(new)


def attached(project: Project, candidate: str) -> list[str]:
    """The URLs of a candidate, those of the audit first."""
    audit, own = project.decision(AFTER, candidate), project.decision(STEP, candidate)
    named = audit.evidence.get("urls", []) if audit else []
    given = own.evidence.get("attached", []) if own else []
    return list(dict.fromkeys(map(str, [*named, *given])))


def checked_url(text: str) -> str:
    """UsageError: no address of a page."""
    url = text.strip()
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url[:100]!r} is no address of a page: it begins with http:// or https://")
    return url


def _rows(project: Project, file: Path) -> list[tuple[str, str]]:
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read as UTF-8: {error}") from None
    reader = csv.DictReader(lines)
    if not {"candidate", "url"} <= set(reader.fieldnames or ()):
        raise UsageError(f"{file}, line 1: the columns `candidate` and `url` are needed")
    rows = []
    for row in reader:
        try:
            candidate = project.candidate((row["candidate"] or "").strip())
            rows.append((candidate.id, checked_url(row["url"] or "")))
        except UsageError as error:
            raise UsageError(f"{file}, line {reader.line_num}: {error}") from None
    return rows
