"""Where a run may go: spellings, names, addresses, lists. Nothing is sent in any of these tests."""

from __future__ import annotations

import pytest

from fieldmark.sandbox.gateway.web.policy import GUARDED, Denied, Policy, Target, matches

# The URLs of cases/inputs/lookup/ssrf_urls.json (case 8-15).
CASES = [
    "http://localhost:8901/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0.0.0.0:2375/",
    "http://10.0.0.5/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://metadata.google.internal/",
    "http://host.docker.internal:2375/",
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "view-source:file:///etc/passwd",
]
SPELLINGS = [
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.1",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://127%2e0.0.1/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://LocalHost./",
    "http://a.localhost/",
    "http://router/",
    "http://1.2.3.4.5/",
    "http://0x7f.0.0.0x1/",
    "http://017700000001/",
    "http://0xA9FEA9FE/",
    "http://169.254.43518/",
    "http://0251.0376.0251.0376/",
    "http://deep.er.localhost/",
    "http://localhost.localdomain/",
]
ADDRESSES = [
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:5]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[::]/",
    "http://100.64.1.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://0.0.0.1/",
    "http://169.254.1.1/",
    "http://[fd12:3456:789a::1]/",
    "http://[fc00::1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[4000::1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://100.127.255.254/",
]
TRICKS = [
    "http://user@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org\t/",
    " http://example.org/",
    "http://example.org:22/",
    "http://example.org:0/",
    "http://example.org:99999/",
    "http://example.org:80:80/",
    "http:///x",
    "http://[",
    "https:example.org",
    "//example.org/",
    "example.org",
    "",
    "javascript:alert(1)",
    "data:text/html,x",
    f"http://example.org/{'a' * 5000}",
]


@pytest.mark.parametrize("url", [*CASES, *SPELLINGS, *ADDRESSES, *TRICKS])
def test_what_leads_inside_or_cannot_be_read_is_refused_with_a_reason(url: str) -> None:
    with pytest.raises(Denied) as refused:
        Policy().check(url)
    assert len(str(refused.value)) > 15
    assert not refused.value.guarded


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("http://EXAMPLE.org:80/a/../b?q=1&r=%e4#there", "http://example.org/b?q=1&r=%E4"),
        ("https://example.org.", "https://example.org/"),
        ("https://例え.jp/パス", "https://xn--r8jz45g.jp/%E3%83%91%E3%82%B9"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://127.0.0.1.nip.io/", "http://127.0.0.1.nip.io/"),  # refused later, by what it resolves to
    ],
)
def test_a_public_url_has_one_normal_form(written: str, normal: str) -> None:
    assert Policy().check(written).url == normal


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1"], ["::ffff:192.168.0.1"], ["fe80::1%2"]]
)
def test_every_address_that_a_name_resolves_to_must_be_public(answers: list[str]) -> None:
    target = Policy().check("http://example.org/")
    with pytest.raises(Denied, match=r"example\.org resolves to"):
        Policy().check_answers(target, answers)
    assert Policy().check_answers(target, ["93.184.215.14", "2606:4700::1111"])


def test_the_switch_for_tests_opens_one_port_of_one_host() -> None:
    policy = Policy(allow_local=frozenset({"127.0.0.1:8901"}))
    url = "http://127.0.0.1:8901/x"
    assert policy.check(url) == Target(url, "http", "127.0.0.1", 8901, local=True)
    for url in ("http://127.0.0.1:8902/", "http://localhost:8901/", "http://127.1:8901/"):
        with pytest.raises(Denied):
            policy.check(url)


@pytest.mark.parametrize(
    ("pattern", "host", "path", "whether"),
    [
        ("example.org", "example.org", "/x", True),
        ("example.org", "www.example.org", "/x", True),
        ("*.example.org", "www.example.org", "/", True),
        ("https://Example.org/", "example.org", "/x", True),
        ("example.org", "badexample.org", "/", False),
        ("example.org", "example.org.evil.net", "/", False),
        ("example.org/data", "example.org", "/data/1", True),
        ("example.org/data", "example.org", "/DATA", True),
        ("example.org/data", "example.org", "/%64ata/1", True),
        ("example.org/data", "example.org", "/database", False),
    ],
)
def test_a_pattern_names_a_host_or_a_folder_of_it(pattern: str, host: str, path: str, whether: bool) -> None:
    assert matches(pattern, host, path) is whether


def test_lists() -> None:
    policy = Policy(allow=("example.org",), deny=("ads.example.org",))
    assert policy.check("http://www.example.org/").host == "www.example.org"
    with pytest.raises(Denied, match=r"the run denies ads\.example\.org"):
        policy.check("http://x.ads.example.org/")
    with pytest.raises(Denied, match=r"example\.net is not among the hosts"):
        policy.check("http://example.net/")


@pytest.mark.parametrize(
    "url",
    [
        "https://hub.example/datasets/birds/1",
        "https://hub.example/x/../datasets/birds/",
        "https://archive.example/web/2020/https://hub.example/datasets/birds/1",
        "https://translate.example/?u=https%3A%2F%2Fhub.example%2Fdatasets%2Fbirds",
    ],
)
def test_records_of_a_source_dataset_are_guarded_also_in_an_archive_of_pages(url: str) -> None:
    with pytest.raises(Denied) as refused:
        Policy(guard=("hub.example/datasets/birds",)).check(url)
    assert (str(refused.value), refused.value.guarded) == (GUARDED, True)


@pytest.mark.parametrize("url", ["https://hub.example/datasets/cats", "https://a.example/?from=hub.example"])
def test_the_guard_leaves_other_pages_alone(url: str) -> None:
    assert Policy(guard=("hub.example/datasets/birds",)).check(url)
