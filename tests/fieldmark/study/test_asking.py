"""From a TOML file to the arms of a study."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.launch import MAY_CHANGE
from fieldmark.skills.loader import bundled
from fieldmark.study.asking import SHARED, read_study
from fieldmark.study.matrix import combined, named
from fieldmark.study.study import Study
from fieldmark.toml_file import read_toml


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    def read(text: str, **flags: Any) -> Study:
        toml = tmp_path / "mine.toml"
        toml.write_text(text)
        return read_study(toml, flags)

    return read


def test_every_combination_is_an_arm_with_a_readable_name(asked: Any) -> None:
    study = asked(
        'time_limit = 60\n[matrix]\nagent = ["react", "forager"]\nskills = ["none", "all,-ocr-reading"]'
    )
    assert [arm.name for arm in study.arms] == [
        "react_skills-none", "react_skills-all-no-ocr-reading",
        "forager_skills-none", "forager_skills-all-no-ocr-reading",
    ]  # fmt: skip
    assert (study.path, study.baseline, study.axes) == (
        Path("runs/mine"),
        study.arms[0].name,
        ["agent", "skills"],
    )
    config = study.runs[3].config
    assert (config.agent, config.skills, config.limits.seconds) == ("forager", ["all", "-ocr-reading"], 60)
    assert config.out == Path("runs/mine/forager_skills-all-no-ocr-reading")


def test_an_axis_may_be_any_option_and_a_model_may_be_a_table(asked: Any) -> None:
    study = asked("""
        base_url = "http://localhost:8000/v1"
        [matrix]
        model = ["Qwen/small", {name = "big", base_url = "http://user:key@localhost:9000/v1", sees = false}]
        time_limit = [60, 240]
        web = ["offline"]
        probe = [true, false]
    """)
    assert study.arms[0].name == "small_time_limit-60_web-offline_probe-yes"
    assert study.arms[-1].name == "big_time_limit-240_web-offline_probe-no"
    small, big = study.runs[0].config, study.runs[-1].config
    assert (small.model.base_url, small.limits.seconds) == ("http://localhost:8000/v1", 60)
    assert (big.model.sees, big.model.name, big.probe) == (False, "big", False)


def test_flags_go_over_the_file_for_every_arm(asked: Any) -> None:
    study = asked('limit = 5\n[matrix]\nagent = ["react", "forager"]', limit=2, name="other")
    assert {run.config.limit for run in study.runs} == {2}
    assert study.path == Path("runs/other")


def test_orders_are_runs_of_each_arm(asked: Any) -> None:
    study = asked('orders = 2\nseed = 7\n[matrix]\nagent = ["react", "forager"]')
    assert [run.name for run in study.runs] == ["react-o1", "react-o2", "forager-o1", "forager-o2"]
    assert [(run.config.order, run.config.seed) for run in study.runs[:2]] == [(1, 7), (2, 7)]
    assert [run.order for run in asked("[matrix]\norders = [0, 3]").runs] == [0, 3]
    assert [run.name for run in read_study(None, {"orders": 2, "name": "x"}).runs] == ["run-o1", "run-o2"]


def test_arms_may_be_named_one_by_one(asked: Any) -> None:
    study = asked("""
        baseline = "with"
        [arms.without]
        skills = "none"
        [arms.with]
        skills = "all"
    """)
    assert ([arm.name for arm in study.arms], study.baseline) == (["without", "with"], "with")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[matrix]\nagnet = ["react"]', "unknown axis 'agnet'"),
        ('[matrix]\nagent = "react"', "agent: give a list"),
        ("[matrix]\nagent = []", "agent: give a list"),
        ('[matrix]\nagent = ["react", "react"]', "agent: two values are called 'react'"),
        ('[matrix]\ntime_limit = [60, "long"]', "arm time_limit-long: time_limit"),
        ('[matrix]\nbenchmark = ["a", "b"]', "benchmark is no axis of a study: its arms do the same tasks"),
        ("[matrix]\nparallel = [1, 2]", "parallel is no axis"),
        ('agent = "react"\n[matrix]\nagent = ["forager"]', "agent is an axis, and stands above it"),
        ('baseline = "x"\n[matrix]\nagent = ["react", "forager"]', "baseline 'x' is no arm: the arms"),
        ('[matrix]\nagent = ["react"]\n[arms.a]\nagent = "react"', "leave one of them out"),
        ('[arms.a]\nagent = "react"\n[arms.b]\nskills = "none"', "name the same options in every arm"),
        ('[arms.blobs]\nagent = "react"', "'blobs' cannot be the name of an arm"),
        ("orders = 0", "orders: give a whole number"),
        ("orders = 2\norder = 3", "order is that of one run"),
        ("matrix = 3", "are tables"),
        ("[matrix]", "a study needs arms"),
        ('preset = "table5"', "unknown preset 'table5': the presets are table4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(asked: Any, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        asked(text)


def test_a_flag_cannot_be_an_axis_too(asked: Any) -> None:
    with pytest.raises(UsageError, match="skills is an axis, and stands as a flag too"):
        asked('[matrix]\nskills = ["none", "all"]', skills=["all"])


def test_a_study_without_a_file_needs_a_name() -> None:
    with pytest.raises(UsageError, match="name it with --name"):
        read_study(None, {"orders": 3})


def test_an_arm_that_inherits_is_played_one_by_one_whatever_the_others_are(asked: Any) -> None:
    study = asked('parallel = 8\n[matrix]\nmemory = ["off", "inherit"]')
    assert [run.config.parallel for run in study.runs] == [8, 1]
    waves = asked('parallel = 8\nwaves = 4\n[matrix]\nmemory = ["off", "inherit"]')
    assert [(run.config.parallel, run.config.waves) for run in waves.runs] == [(8, None), (4, 4)]


def test_what_a_run_may_change_is_no_axis() -> None:
    assert SHARED.keys() >= MAY_CHANGE


def test_names_are_safe_whatever_the_values_are() -> None:
    names = [
        arm.name
        for arm in combined({"agent": ["./../my agent.py", "/abs/other.py"], "x": [["a", "b"], "ü/é"]})
    ]
    assert names == ["my-agent.py_x-a+b", "my-agent.py_x-empty", "other.py_x-a+b", "other.py_x-empty"]


def test_the_preset_of_table_4_is_memory_times_the_registration_skill() -> None:
    preset = read_toml(Path(str(files("fieldmark.study") / "presets/table4.toml")))
    arms = {arm.name: arm.options for arm in named(preset["arms"])}
    assert preset["where"] == "mid=Aircraft"
    assert {name: tuple(options.values()) for name, options in arms.items()} == {
        "base": ("off", "all,-aircraft-registration"),
        "memory": ("inherit", "all,-aircraft-registration"),
        "skill": ("off", "all"),
        "memory-and-skill": ("inherit", "all"),
    }
    assert "aircraft-registration" in {skill.name for skill in bundled()}


def test_the_example_of_the_documentation(asked: Any) -> None:
    text = (Path(__file__).parents[3] / "docs" / "studies.md").read_text(encoding="utf-8")
    first, second = (part.partition("```")[0] for part in text.split("```toml\n")[1:])
    study = asked(first)
    assert (len(study.arms), len(study.runs), study.baseline) == (4, 8, "tools-base_skills-none")
    assert [arm.name for arm in asked(second).arms] == ["alone", "helped"]
