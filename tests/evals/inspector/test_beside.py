"""The same task in several runs, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.rundir import RunDir
from tests.evals.inspector.test_app import WRONG

PAIR = "/compare?run=aircraft&run=other&task=wrong"


@pytest.fixture
def both(aircraft: RunDir, other: RunDir) -> Iterator[TestClient]:
    app = make_app(Library([aircraft.path, other.path]), GatewayRequests(), {"127.0.0.1"}, None)
    with TestClient(app, base_url="http://127.0.0.1:7788") as made:
        yield made


def line(page: str, title: str) -> list[str]:
    """The cells of a line, tags taken out."""
    found = re.search(rf'<tr><th scope="row">{title}</th>(.*?)</tr>', page, re.DOTALL)
    assert found, title
    cells = re.findall(r"<td>(.*?)</td>", found[1], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells]


def test_a_task_in_two_runs(both: TestClient) -> None:
    page = both.get(PAIR).text
    assert line(page, "answer") == ["aircraft Boeing 747-400", "other Airbus A380-800 &lt;b&gt;"]
    assert [cell.split()[1] for cell in line(page, "verdict")] == ["incorrect", "correct"]
    assert line(page, "failure")[0].startswith("aircraft neighbour confusion")
    assert line(page, "act 1")[0].split()[1] == "crop_zoom"
    assert line(page, "act 1")[1].split()[1] == "web_search"
    assert line(page, "act 2")[0].split()[1] == "ocr"
    assert line(page, "act 2")[1] == "other –"
    assert line(page, "acts in all") == ["aircraft 2", "other 1"]
    assert "no pair" not in page


def test_boxes_acts_and_requests_lead_to_their_own_run(both: TestClient) -> None:
    page = both.get(PAIR).text
    assert page.count(f'<a href="{WRONG}#e7"') == 1
    assert 'class="stage c1"' in page
    assert 'class="stage c2"' in page
    for path in set(re.findall(r'<img src="([^"]*)"', page)):
        assert both.get(path).headers["content-type"] == "image/jpeg"
    for path in set(re.findall(r'href="(/run/[^"?#]*/event/\d+)"', page)):
        reply = both.get(path)
        assert reply.status_code == 200
        assert "The request as received" in reply.text


def test_an_episode_leads_to_the_same_task_in_the_other_runs(both: TestClient, aircraft: RunDir) -> None:
    links = re.findall(r'href="(/compare[^"]*)"', both.get(WRONG).text)
    assert links == [PAIR.replace("&", "&amp;")]
    assert "/compare" not in both.get(WRONG.replace("wrong", "right")).text


def test_a_run_that_has_not_done_the_task_says_so(both: TestClient) -> None:
    page = both.get(PAIR.replace("wrong", "late")).text
    assert page.count("has not finished this task") == 1
    assert both.get(PAIR.replace("wrong", "nothing")).text.count("has not finished this task") == 2


def test_another_picture_under_the_same_name_is_no_pair(both: TestClient, other: RunDir) -> None:
    rows = other.tasks()
    rows[0]["image"] = {**rows[0]["image"], "blob": "0" * 64}
    jsonl.write_all(other.tasks_file, rows)
    assert "The picture of this task is not the same in these runs" in both.get(PAIR).text


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", 400), ("run=aircraft&task=wrong", 400), ("run=aircraft&run=aircraft&task=wrong", 400),
        ("&".join(f"run={n}" for n in range(7)), 400), ("run=aircraft&run=..%2Fx&task=wrong", 404),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(both: TestClient, query: str, code: int) -> None:
    assert both.get(f"/compare?{query}").status_code == code


def test_without_the_private_part_there_is_no_gold(both: TestClient, aircraft: RunDir, other: RunDir) -> None:
    assert "gold <bdi" in both.get(PAIR).text
    for run in (aircraft, other):
        run.gold_file.unlink()
    assert "gold <bdi" not in both.get(PAIR).text
