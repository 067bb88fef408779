"""When a page supports an answer."""

from __future__ import annotations

import pytest

from fieldmark.evals.curation.evidence.pages import domains, problem_of

NAMES = ["Boeing 737-900ER", "737-900ER"]
PAGE = "https://planes.example/737"


@pytest.mark.parametrize(
    ("final", "http", "text", "problem"),
    [
        (PAGE, 200, "The 737-900ER flies further.", ""),
        (PAGE, 404, "The 737-900ER flies further.", "HTTP 404"),
        ("https://planes.example/login?next=737", 200, "The 737-900ER", "leads to a login"),
        ("https://passport.shop.example/", 200, "The 737-900ER", "leads to a login"),
        (PAGE, 200, "The 737-900 flies.", "names none of"),
        (PAGE, 200, None, "a download"),
    ],
)
def test_reachable_open_and_naming_the_answer(final: str, http: int, text: str | None, problem: str) -> None:
    assert problem_of(PAGE, final, http, text, NAMES).startswith(problem)
    assert bool(problem_of(PAGE, final, http, text, NAMES)) == bool(problem)


def test_domains_are_registered_ones() -> None:
    urls = ["https://item.jd.com/1.html", "https://www.jd.com/", "https://a.b.co.uk/", "http://10.0.0.1/x"]
    assert domains(urls) == {"jd.com": 2, "b.co.uk": 1, "10.0.0.1": 1}
