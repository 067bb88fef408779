"""A run over FIKA-shaped data: what run.json says of it, what stays private, what resume refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Fieldmark
from tests.evals.benchmarks import fika_data
from tests.model_server import ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")


def test_a_run_records_how_the_data_were_read_and_keeps_gold_private(
    fieldmark: Fieldmark, tmp_path: Path
) -> None:
    manifest = fika_data.by_split(tmp_path / "in")
    with ModelServer([Reply('{"answer": "Quillhaven moonfern", "confidence": 0.5}')]) as server:
        done = fieldmark(
            "run", "--benchmark", "fika", "--data", manifest, "--protocol", "fika", "--agent", "closed_book",
            "--model", "scripted", "--base-url", server.url, "--out", "out", "--limit", "2",
        )  # fmt: skip
        manifest.write_text(manifest.read_text().replace("Kestrel 9", "Kestrel 8"))
        resumed = fieldmark("run", "--resume", "out")
        assert (resumed.returncode, "has changed since" in resumed.stderr) == (2, True), resumed.stderr
    assert done.returncode == 0, done.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["protocol"] == {
        "name": "fika",
        "fixes": {"time_limit": 240.0, "memory": "off", "reply": "plain"},
    }
    assert run["limits"]["seconds"] == 240
    assert run["benchmark"]["data"]["mapping"]["answer"] == "gold.answer"
    assert run["benchmark"]["data"]["mapping"]["split"] == "(key of the list)"
    public = "".join(
        path.read_text(errors="replace")
        for path in (tmp_path / "out").rglob("*")
        if path.is_file() and not {"private", "blobs"} & set(path.parts) and path.name != "report.html"
    )
    assert "Zorvex" not in public  # the gold of the first task, which the model did not say
    assert "planes.example" not in public
    assert str(tmp_path) not in public

    exported = fieldmark("export", "out", "--public", "published")
    assert exported.returncode == 0, exported.stderr
