"""`fieldmark tool`: the same line of JSON on the host and inside a container."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.scripted_gateway import ScriptedGateway, make_prompt
from tests.tools.pictures import scene

PICTURE = str(Path(__file__).parents[1] / "data" / "chinese_sign.png")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a photo.png"
    scene(5).save(path)
    return path


def fieldmark(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fieldmark.cli", "tool", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin", **env}, check=False
    )


def test_one_line_of_json_and_the_picture_as_a_file(picture: Path, tmp_path: Path) -> None:
    box = '{"x1": 10, "y1": 10, "x2": 200, "y2": 150}'
    done = fieldmark("crop_zoom", "--json", box, "--image", picture, "--out", tmp_path / "out")
    assert done.returncode == 0
    row = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert row["ok"]
    assert Path(row["pictures"][0]["file"]).read_bytes().startswith(b"\xff\xd8")


def test_a_tool_that_fails_is_still_exit_0(picture: Path) -> None:
    done = fieldmark("crop_zoom", "--json", "{}", "--image", picture)
    assert done.returncode == 0
    assert json.loads(done.stdout)["error_kind"] == "invalid_args"


def test_without_a_name_the_tools_are_listed() -> None:
    assert "crop_zoom x1 y1 x2 y2 space? zoom?" in fieldmark().stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["crop"], "unknown tool 'crop'"),
        (["ocr"], "--image FILE"),
        (["ocr", "--image", "/nowhere.png"], "/nowhere.png"),
        (["ocr", "--image", __file__], "not a readable picture"),
        (["crop_zoom", "--image", PICTURE, "--out", "/proc/nowhere"], "name a writable folder with --out"),
    ],
)
def test_bad_usage_is_exit_2_and_one_line(arguments: list[str], says: str) -> None:
    done = fieldmark(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def container(tmp_path: Path) -> Iterator[tuple[ScriptedGateway, dict[str, str]]]:
    """A gateway, and the environment of a program beside its worker."""
    gateway = ScriptedGateway(make_prompt(), [])
    (tmp_path / ".prompt.json").write_text(gateway.prompt.model_dump_json())
    yield gateway, {"FIELDMARK_SOCKET": gateway.path, "FIELDMARK_WORKSPACE": str(tmp_path)}
    gateway.close()


def test_inside_a_container_it_goes_through_the_gateway(
    container: tuple[ScriptedGateway, dict[str, str]],
) -> None:
    gateway, env = container
    done = fieldmark(
        "crop_zoom", "--json", '{"x1": 0, "y1": 0, "x2": 150, "y2": 150, "space": "sent"}', **env
    )
    row = json.loads(done.stdout)
    assert row["data"]["box"] == [0, 0, 300, 300]
    assert row["pictures"][0]["of"] == gateway.prompt.image.blob
    assert Path(row["pictures"][0]["file"]).parent == Path(env["FIELDMARK_WORKSPACE"])
    assert Path(row["pictures"][0]["file"]).read_bytes().startswith(b"region /image/region?")
    assert [event["kind"] for event in gateway.events] == ["tool_call", "tool_result"]
    assert gateway.events[0]["door"] == "command"


def test_inside_a_container_boxes_are_in_the_space_of_the_prompt(
    container: tuple[ScriptedGateway, dict[str, str]],
) -> None:
    gateway, env = container
    prompt = gateway.prompt.model_copy(update={"space": "norm1000"})
    Path(env["FIELDMARK_WORKSPACE"], ".prompt.json").write_text(prompt.model_dump_json())
    done = fieldmark("crop_zoom", "--json", '{"x1": 0, "y1": 0, "x2": 500, "y2": 1000}', **env)
    width, height = gateway.prompt.image.width, gateway.prompt.image.height
    assert json.loads(done.stdout)["data"]["box"] == [0, 0, width / 2, height]
    assert "(space=norm1000)" in fieldmark(**env).stdout


def test_a_shell_may_hand_over_half_an_emoji(container: tuple[ScriptedGateway, dict[str, str]]) -> None:
    _, env = container
    done = fieldmark("aircraft_registry", "--json", '{"registration": "\\ud83d"}', **env)
    assert done.returncode == 0
    assert "text" in json.loads(done.stdout)


def test_only_the_tools_of_the_episode_are_offered(
    container: tuple[ScriptedGateway, dict[str, str]],
) -> None:
    gateway, env = container
    done = fieldmark("ocr", **env)
    assert done.returncode == 0
    row = json.loads(done.stdout)
    assert row["error_kind"] == "not_found"
    assert row["text"].endswith("no tool named 'ocr'; the tools are crop_zoom, aircraft_registry, answer")
    assert [event["kind"] for event in gateway.events] == ["tool_call", "tool_result"]
    assert "ocr" not in fieldmark(**env).stdout


def test_when_the_episode_is_over_it_says_so(container: tuple[ScriptedGateway, dict[str, str]]) -> None:
    gateway, env = container
    gateway.gone.set()
    done = fieldmark("answer", "--json", '{"text": "x"}', **env)
    assert done.returncode == 1
    assert "ended this episode" in done.stderr


def test_listing_and_finding_tools_loads_no_heavy_library() -> None:
    code = (
        "import sys; from fieldmark.tools.registry import all_tools; all_tools();"
        "print(sorted({'cv2', 'numpy', 'PIL', 'pytesseract'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_tool_that_looks_at_no_picture_needs_none() -> None:
    assert json.loads(fieldmark("read_skill", "--json", '{"name": "food"}').stdout)["ok"]
    unset = json.loads(fieldmark("web_search", "--json", '{"query": "winglet"}').stdout)
    assert "--search serpapi" in unset["text"]
    assert "--image FILE" in fieldmark("ocr").stderr


def test_a_server_of_eyes_without_a_model_is_told(picture: Path) -> None:
    done = fieldmark("inspect_image", "--image", picture, "--eyes-url", "http://localhost:1/v1")
    assert done.returncode == 2
    assert "--eyes NAME" in done.stderr
