"""One page of evidence, and whether it supports the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from pydantic import BaseModel

from fieldmark.evals.leaks.deciding import holds

_LOGIN = re.compile(
    r"(^|[./_-])(log[-_]?in|sign[-_]?in|sso|passport|accounts?|auth|authorize)([./_-]|$)", re.IGNORECASE
)


class EvidencePage(BaseModel):
    """What became of a URL. `sha256` of the body as it came; `text` and `screenshot`: the files of what was
    read and seen of it, named by a sha256 (of the body, of the picture). All is kept in the project's
    `evidence/`. `no_screenshot`: why there is none. `problem`: why it does not count, "" when it does.
    """

    url: str
    final_url: str = ""
    http: int = 0
    sha256: str = ""
    text: str = ""
    screenshot: str = ""
    no_screenshot: str = ""
    when: str = ""
    problem: str = ""

    @property
    def told(self) -> str:
        """What came of it, in a line."""
        seen = f", screenshot {self.screenshot[:12]}" if self.screenshot else ""
        unseen = f", no screenshot: {self.no_screenshot}" if self.no_screenshot else ""
        return f"{self.problem or 'supports the answer'}{seen}{unseen}"


def problem_of(url: str, final_url: str, http: int, text: str | None, names: Sequence[str]) -> str:
    """Why a page does not support the answer, "" when it does. `text`: None for what is no page of text;
    `names`: the answer and its aliases.
    """
    if http != 200:
        return f"HTTP {http}"
    if _is_login(final_url) and not _is_login(url):
        return f"leads to a login: {final_url}"
    if text is None:
        return "a download, not a page"
    if not any(holds(text, name) for name in names):
        return f"names none of {', '.join(map(repr, names))}"
    return ""


def domains(urls: Iterable[str]) -> Counter[str]:
    """Registered domain → URLs, as FIKA-Bench's Table 1 counts its sources."""
    return Counter(_domain(url) for url in urls)


def _is_login(url: str) -> bool:
    parts = urlsplit(url)
    return bool(_LOGIN.search(f"{parts.hostname or ''}{parts.path}"))


def _domain(url: str) -> str:
    import tld

    return tld.get_fld(url, fail_silently=True) or urlsplit(url).hostname or url
