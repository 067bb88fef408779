"""A page that gold rests on is reached when it is returned or opened, however its address is written."""

from __future__ import annotations

import pytest

from fieldmark.evals.facts.found import gold_facts_of
from fieldmark.evals.facts.reached import domain_of, page_key, urls_in
from fieldmark.findings import GoldFacts
from fieldmark.task import Gold
from tests.evals.facts.traces import Trace

PAGE = "https://en.wikipedia.org/wiki/Saab_340"


def found(trace: Trace, *evidence: str) -> GoldFacts:
    return gold_facts_of(trace.record, trace.events, Gold(answer="x y z", evidence=[*evidence]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.x.example/a/", "http://x.example/a#top"),
        ("https://X.example:443/%E4%B8%B9?b=2&a=1", "https://x.example/丹?a=1&b=2"),
        ("https://xn--fiqs8s.example/a%20b", "https://中国.example/a b"),
    ],
)
def test_two_spellings_of_one_address(one: str, other: str) -> None:
    assert page_key(one) == page_key(other) != ""


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("http://zh.wikipedia.org:80/wiki/丹顶鹤", "wikipedia.org"),
        ("https://www.photos.example/1", "photos.example"),
        ("https://someone.github.io/a", "someone.github.io"),
        ("http://127.0.0.1/a", "127.0.0.1"),
        ("no address", ""),
        ("http://[half", ""),
    ],
)
def test_the_registrable_domain(url: str, domain: str) -> None:
    assert domain_of(url) == domain


def test_addresses_in_a_text_end_where_they_end() -> None:
    text = "See [it](https://x.example/a_(b)), (https://y.example/c). 见https://z.example/丹。再见 <https://w.example>"
    assert list(urls_in(text)) == [
        "https://x.example/a_(b)", "https://y.example/c", "https://z.example/丹", "https://w.example"
    ]  # fmt: skip


def test_a_page_in_a_result_or_opened_is_reached() -> None:
    hits = {"hits": [{"url": "http://en.wikipedia.org/wiki/Saab_340/"}]}
    returned = found(Trace().call("web_search", {"query": "q"}, "", hits).answer("a"), PAGE)
    assert (returned.reached, returned.reached_event, returned.reached_domain) == (True, 4, True)
    opened = found(Trace().call("open_page", {"url": PAGE}, "text", {"http": 200}).answer("a"), PAGE)
    assert (opened.reached, opened.reached_event) == (True, 4)
    by_shell = found(Trace().call("bash", {"command": f"curl {PAGE}"}).opened(PAGE).answer("a"), PAGE)
    assert (by_shell.reached, by_shell.reached_event) == (True, 5)


def test_an_address_that_the_agent_only_wrote_is_not_reached() -> None:
    failed = (
        Trace().call("open_page", {"url": PAGE}, f"Error (not_found): {PAGE}", ok=False).opened(PAGE, 404)
    )
    assert found(failed.answer("a"), PAGE).reached is False
    asked = Trace().call("bash", {"command": f"echo {PAGE}"}, PAGE).answer("a")
    assert found(asked, PAGE).reached_domain is False


def test_another_page_of_the_domain_reaches_the_domain_and_a_picture_of_it_does_not() -> None:
    other = found(
        Trace().call("open_page", {"url": "https://de.wikipedia.org/wiki/ATR_42"}).answer("a"), PAGE
    )
    assert (other.reached, other.reached_domain) == (False, True)
    picture = found(Trace().opened("https://upload.wikipedia.org/a.jpg").answer("a"), PAGE)
    assert (picture.reached, picture.reached_domain) == (False, False)


def test_what_was_opened_after_the_answer_and_gold_without_addresses() -> None:
    late = Trace().answer("a").opened(PAGE)
    assert found(late, PAGE).reached is False
    assert (found(late).reached, found(late, "the label on the box").reached_domain) == (None, None)
