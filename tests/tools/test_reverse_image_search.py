"""The tool reverse_image_search by Google Lens, as a user calls it on the host's command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from fieldmark.sandbox.gateway.search.alone import reverser
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import get_tool
from tests.conftest import Fieldmark
from tests.serpapi_server import KEY, SerpApiServer
from tests.tools.pictures import ContextOf, png, scene


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png(scene(1)))
    return path


def test_a_box_is_cut_before_it_is_sent_and_hits_without_scores_promise_nothing(
    context_of: ContextOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SerpApiServer() as server:
        monkeypatch.setenv("SERPAPI_BASE_URL", server.origin)
        monkeypatch.setenv("SERPAPI_API_KEY", KEY)
        context = context_of(scene(1, (480, 360)), reverse=reverser("SERPAPI_API_KEY"))
        box = {"x1": 0.5, "y1": 0.5, "x2": 1, "y2": 1, "space": "fraction"}
        result = call_tool(get_tool("reverse_image_search"), box, context, door="graph")
    assert Image.open(io.BytesIO(server.uploads[0])).size == (240, 180)
    headline, *rest = result.text.splitlines()
    assert headline == (
        "Matches for original pixels [240,180,480,360] in the order of google_lens, which gives no scores:"
    )
    assert rest[0] == "<untrusted source=reverse_image_search:google_lens>"
    assert rest[1].endswith("https://photos.example/saab-340: looks alike to the search engine, not verified")
    assert result.data["hits"][0]["score"] is None


def test_the_command_line_sends_a_picture_only_when_it_may(fieldmark: Fieldmark, photo: Path) -> None:
    command = ("tool", "reverse_image_search", "--image", photo, "--reverse", "serpapi")
    with SerpApiServer() as server:
        refused = fieldmark(*command, env=server.env)
        assert server.uploads == []
        done = fieldmark(*command, "--allow-upload", env=server.env)
        assert len(server.uploads) == 1
    assert refused.returncode == 2
    assert "say --allow-upload" in refused.stderr
    assert json.loads(done.stdout)["data"]["engine"] == "google_lens"
    assert KEY not in done.stdout + done.stderr
