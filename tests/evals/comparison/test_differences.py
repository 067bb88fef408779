"""What two run.json differ in: each aspect, what only follows from another, what does not matter."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.evals.comparison.differences import consequences, differences

RUN: dict[str, Any] = {
    "agent": "react",
    "container": {"memory_mb": 1024},
    "model": {"name": "m", "force": {"temperature": 0}, "preflight": {"tools": True}},
    "prompts": {"react.md": "a"},
    "tools": ["answer", "ocr"],
    "skills": {"food": "1"},
    "judge": "llm-1",
    "judges": {"llm-1": {"prompt_sha256": "p", "votes": 1}, "exact": None},
    "web": {"mode": "replay", "archive": {"sha256": "w", "rows": 3}},
    "image": {"tag": "fieldmark:1", "id": "sha256:1"},
    "picture": "full",
    "config": {"image": "full", "model": {"context": 65536, "output": 8192}, "parallel": 2},
}


@pytest.mark.parametrize(
    ("aspect", "changed"),
    [
        ("agent", {"agent_sha256": "x"}),
        ("protocol", {"protocol": {"name": "fika", "fixes": {"time_limit": 240.0}}}),
        ("model", {"model": {**RUN["model"], "force": {"temperature": 1}}}),
        ("model", {"config": {**RUN["config"], "model": {"context": 8192, "output": 8192}}}),
        ("prompts", {"prompts": {"react.md": "b"}}),
        ("judge", {"judges": {"llm-1": {"prompt_sha256": "q", "votes": 1}}}),
        ("web", {"web": {"mode": "live"}}),
        ("web", {"web": {"mode": "replay", "archive": {"sha256": "x", "rows": 3}}}),
        ("image", {"image": {"tag": "fieldmark:1", "id": "sha256:2"}}),
        ("picture", {"config": {**RUN["config"], "image": "blank"}}),
        ("picture", {"config": {**RUN["config"], "image": 1024}}),
        ("options", {"config": {**RUN["config"], "something_new": "on"}}),
    ],
)
def test_each_aspect_is_told(aspect: str, changed: dict[str, Any]) -> None:
    assert [each.aspect for each in differences(RUN, {**RUN, **changed})] == [aspect]


@pytest.mark.parametrize(
    "changed",
    [
        {"config": {"parallel": 8, "name": "other", "max_cost": 3.0}},
        {"config": {key: value for key, value in RUN["config"].items() if key != "image"}},
        {"model": {**RUN["model"], "preflight": {}, "pacing": {"waited": 3}}},
        {"web": {**RUN["web"], "uses": {"hits": 4}}},
        {"judges": {**RUN["judges"], "another": {"votes": 9}}},
    ],
)
def test_what_tells_how_a_run_went_is_no_difference(changed: dict[str, Any]) -> None:
    """A run of before `--image` had full pictures."""
    assert differences(RUN, {**RUN, **changed}) == []


def follows(**changed: Any) -> list[str]:
    other = {**RUN, **changed}
    return consequences(differences(RUN, other), RUN, other)


def test_closed_book_has_no_tools_skills_and_search_by_itself() -> None:
    closed = {"agent": "closed_book", "tools": [], "skills": {}, "search": {"engine": "site"}}
    assert follows(**closed) == ["tools", "skills", "web"]
    assert follows(**closed, prompts={"react.md": "b"}) == ["tools", "skills", "web"]
    assert "web" not in follows(**{**closed, "agent": "forager"})


def test_the_closed_book_twin_of_a_run_with_memory_has_none() -> None:
    warm, twin = {**RUN, "memory": {"mode": "inherit"}}, {**RUN, "agent": "closed_book"}
    assert consequences(differences(warm, twin), warm, twin) == ["memory"]
    assert consequences(differences(twin, warm), twin, warm) == ["memory"]
    own = {**twin, "memory": {"mode": "frozen"}}
    assert consequences(differences(RUN, own), RUN, own) == []


def test_an_agent_with_packages_has_an_image_of_its_own() -> None:
    packages = {"memory_mb": 1024, "packages": ["opencode-ai@1"]}
    assert follows(agent="opencode", container=packages, image={"tag": "fieldmark:opencode-1"}) == ["image"]
    assert follows(agent="forager", image={"tag": "fieldmark:2"}) == []


def test_a_skill_takes_its_tools_along() -> None:
    assert follows(skills={}, tools=["answer"]) == ["tools"]
    asked = {**RUN["config"], "tools": ["answer"]}
    assert follows(skills={}, tools=["answer"], config=asked) == []
