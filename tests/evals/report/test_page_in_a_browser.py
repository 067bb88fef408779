"""The page of a report in real Chromium: on a telephone and on a desk, light and dark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fieldmark import jsonl
from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.comparison_tables import comparison_tables
from fieldmark.evals.report.html import write_html
from fieldmark.evals.report.thumbnails import Thumbnails
from fieldmark.findings import Failure
from fieldmark.needs import Needs
from fieldmark.records import EpisodeRecord
from fieldmark.sandbox import container as made
from tests.evals.report.full_run import full_run

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

LOOKER = Path(__file__).with_name("page_looker.py")


@pytest.fixture
def page(build_run: BuildRun, tmp_path: Path) -> Path:
    """Two runs compared, with every table that a report can have."""
    runs = [full_run(build_run(name)) for name in ("20261130-101500-first_run_with_a_long_name", "second")]
    path = tmp_path / "report.html"
    jsonl.write_all(runs[0].failures_file, [classified(record) for record in runs[0].episodes()])
    compared = comparison_tables(comparison(runs))
    write_html([summarise(run) for run in runs], path, compared, thumbnails=Thumbnails(runs))
    path.chmod(0o644)
    return path


def classified(record: EpisodeRecord) -> dict[str, Any]:
    """A row for the answers that are uncertain; of the others it does not hold."""
    row = Failure(
        id=record.id, epoch=record.epoch, taxonomy=VERSION, outcome="uncertain", label="visual_grounding",
        stage="facts", classifier="facts",
    )  # fmt: skip
    return row.model_dump(mode="json")


@pytest.fixture
def found(engine: Any, sandbox_image: str, page: Path) -> dict[str, Any]:
    """What Chromium finds at each width, in each scheme, and what a reader can do."""
    door, program = page.parent / "door", page.parent / "looker.py"
    door.mkdir()
    shutil.copyfile(LOOKER, program)
    program.chmod(0o644)
    options = made.create_options(sandbox_image, [made.PYTHON, "/page/looker.py"], "test-report-page", 120)
    binds = {str(page): "/page/report.html", str(program): "/page/looker.py"}
    host = made.host_options(door, Needs(), binds) | {"auto_remove": False}
    created = engine.api.create_container(**options, host_config=engine.api.create_host_config(**host))
    try:
        engine.api.start(created["Id"])
        engine.api.wait(created["Id"], timeout=120)
        printed = engine.api.logs(created["Id"]).decode()
    finally:
        engine.api.remove_container(created["Id"], force=True)
    told: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return told


def test_a_page_is_whole_readable_and_does_what_it_says(found: dict[str, Any]) -> None:
    assert found["asked"] == ["https://report.test/"]
    assert found["errors"] == []
    assert_nothing_overflows_is_cut_or_too_faint_to_read(found["seen"])
    assert_links_copies_and_print(found["acts"])


def assert_nothing_overflows_is_cut_or_too_faint_to_read(found: dict[str, dict[str, Any]]) -> None:
    assert sorted(found) == ["1280 dark", "1280 light", "390 dark", "390 light"]
    for where, seen in found.items():
        assert seen["page"] == int(where.split()[0]), where  # a table scrolls in its box, never the page
        assert seen["tables"] > 25
        assert [seen[name] for name in ("bare", "wider", "cut", "faint", "covered")] == [0, [], [], [], []], (
            where
        )


def assert_links_copies_and_print(acts: dict[str, Any]) -> None:
    assert acts["run by strangers"] is None
    assert acts["pictures"] > 5
    assert acts["charts"] >= 8
    assert acts["buttons"] == 2 * acts["tables"] > 50
    assert acts["buttons without script"] == 0
    assert 0 < acts["after"] < acts["before"] == 31
    assert f": {acts['after']} episodes. The same in fieldmark view: /run/" in acts["told"]
    csv, latex = acts["copied"]["CSV"], acts["copied"]["LaTeX"]
    assert csv.count("\r\n") == latex.count(r" \\") == 32
    assert csv.startswith('"id","epoch","answer"')
    assert "</script><script>window.__xss=1" in csv
    assert r"50 \% of\_it" in latex
    assert r"\caption{Episodes · PARTIAL}" in latex
    assert acts["printed"] == {"outside": 0, "rows": 31, "ink": "rgb(34, 38, 31)"}
