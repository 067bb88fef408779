"""A study that has begun goes on as it began, or is refused with what changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.prices import Costs, Price
from fieldmark.rundir import RunDir
from fieldmark.spending import Spending
from fieldmark.study.asking import read_study
from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir
from fieldmark.study.place import Place
from fieldmark.study.study import Study
from fieldmark.study.unchanged import asked, check_unchanged

MATRIX = '[matrix]\nagent = ["react", "forager"]'


@pytest.fixture
def study(tmp_path: Path) -> Any:
    def read(text: str, **flags: Any) -> Study:
        toml = tmp_path / "mine.toml"
        toml.write_text(text)
        return read_study(toml, {"out": tmp_path / "study", **flags})

    return read


def began(study: Study) -> tuple[RecordedStudy, dict[str, Any]]:
    """What a study leaves behind when it begins, written and read again."""
    folder = StudyDir(study.path)
    folder.create()
    recorded = RecordedStudy(
        name="study", started="", baseline=study.baseline, axes=study.axes,
        benchmark={"name": "b", "version": "1"},
        arms={arm.name: dict.fromkeys(arm.options, "x") for arm in study.arms},
        runs=[RecordedRun(run=run.name, arm=run.arm.name, order=run.order) for run in study.runs],
    )  # fmt: skip
    folder.write(recorded, {run.name: asked(run.config) for run in study.runs})
    return folder.recorded(), folder.asked()


def test_the_same_file_and_what_changes_no_result_may_come_again(study: Any) -> None:
    before = began(study(f"time_limit = 60\n{MATRIX}"))
    check_unchanged(study(f"time_limit = 60\n{MATRIX}"), *before)
    check_unchanged(study(f"time_limit = 60\nparallel = 2\nmax_cost = 3\n{MATRIX}"), *before)


def test_a_changed_setting_is_told_with_old_and_new(study: Any) -> None:
    before = began(study(f"time_limit = 60\n{MATRIX}"))
    with pytest.raises(
        UsageError, match=r"seed: 0 → 1; limits.seconds: 60.0 → 90.0: put it back, or .*--out"
    ):
        check_unchanged(study(f"time_limit = 90\nseed = 1\n{MATRIX}"), *before)
    with pytest.raises(UsageError, match='ocr: "tesseract" → "rapidocr"'):
        check_unchanged(study(f"time_limit = 60\n{MATRIX}", ocr="rapidocr"), *before)


def test_arms_and_orders_are_added_later_with_the_same_settings(study: Any) -> None:
    before = began(study(f"time_limit = 60\norders = 2\n{MATRIX}"))
    more = '[matrix]\nagent = ["react", "forager", "closed_book"]'
    check_unchanged(study(f"time_limit = 60\norders = 4\n{more}"), *before)
    with pytest.raises(UsageError, match="a new arm"):
        check_unchanged(study('time_limit = 90\n[matrix]\nagent = ["closed_book"]'), *before)


def test_an_arm_with_a_memory_is_added_to_one_without(study: Any) -> None:
    text = 'memory_form = "native"\nwaves = 2\nagent = "opencode"\n[matrix]\nmemory = {}'
    recorded, before = began(study(text.format('["off"]')))
    check_unchanged(study(text.format('["off", "inherit"]')), recorded, before)
    recorded, before = began(study(text.format('["off", "inherit"]')))
    recorded = recorded.model_copy(update={"axes": ["memory", "skills"]})
    now = study(text.format('["off", "inherit"]').replace("waves = 2", "waves = 3") + '\nskills = ["all"]')
    with pytest.raises(UsageError, match="waves: 2 → 3"):
        check_unchanged(now, recorded, before)


def test_an_option_that_a_newer_fieldmark_has_is_unchanged_at_its_default(study: Any) -> None:
    recorded, before = began(study(MATRIX))
    older = {name: {key: each[key] for key in each if key != "ocr"} for name, each in before.items()}
    check_unchanged(study(MATRIX), recorded, older)
    with pytest.raises(UsageError, match='ocr: not set → "rapidocr"'):
        check_unchanged(study(f'ocr = "rapidocr"\n{MATRIX}'), recorded, older)


def test_another_axis_is_another_study(study: Any) -> None:
    before = began(study(MATRIX))
    with pytest.raises(UsageError, match="has the axes agent, now they are agent, skills"):
        check_unchanged(study(f'{MATRIX}\nskills = ["none", "all"]'), *before)


def test_keys_in_urls_are_not_kept_and_may_change(study: Any) -> None:
    text = 'model = "m"\nbase_url = "http://me:{}@localhost:8000/v1?key={}"\n'
    before = began(study(text.format("pw1", "k1") + MATRIX))
    check_unchanged(study(text.format("pw2", "k2") + MATRIX), *before)
    assert "pw1" not in json.dumps(before[1])
    assert "k1" not in json.dumps(before[1])


def test_a_copy_without_its_private_part_is_not_gone_on_with(study: Any, tmp_path: Path) -> None:
    began(study(MATRIX))
    (tmp_path / "study" / "private" / "asked.json").unlink()
    with pytest.raises(UsageError, match="can be reported, not gone on with"):
        StudyDir(tmp_path / "study").asked()


def test_the_folder_of_a_run_is_no_study(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="holds a run"):
        StudyDir(tmp_path).create()
    with pytest.raises(UsageError, match="is not a study"):
        StudyDir.open(tmp_path)


def test_a_study_is_no_run(study: Any, tmp_path: Path) -> None:
    began(study(MATRIX))
    with pytest.raises(UsageError, match="is a study: name a run in it"):
        RunDir.open(tmp_path / "study")


def test_runs_of_a_study_share_each_blob(study: Any, tmp_path: Path) -> None:
    began(study(MATRIX))
    stores = [RunDir.create(tmp_path / "study" / name).blob_store() for name in ("react", "forager")]
    (digest,) = {store.put(b"picture", "image/png") for store in stores}
    files = [store.path(digest) for store in stores]
    assert [file.stat().st_nlink for file in files] == [3, 3]
    assert RunDir.create(tmp_path / "alone").blob_store().shared is None


def test_money_and_hours_are_those_of_all_runs_together(tmp_path: Path) -> None:
    place = Place(label="run 2 of 2", done=3, total=6, usd=0.9, hours=0.0, go_on="fieldmark run mine.toml")
    price = Costs({"agent": Price(input=1, output=1)})
    spending = Spending(RunConfig(max_cost=1.0), price, RunDir(tmp_path), place)
    assert spending.over() is None
    place = replace(place, usd=1.0)
    told = Spending(RunConfig(max_cost=1.0), price, RunDir(tmp_path), place)
    assert told.over() == ("--max-cost 1 is reached: at least 1.0000 USD are spent", "--max-cost USD")
    assert told.describe()["usd"] == 0.0
