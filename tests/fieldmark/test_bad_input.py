"""Every bad input gives one clear line that names the thing and the remedy, exit code 2, and no traceback."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest

from fieldmark.agents.external.recipe import read_recipe
from fieldmark.config import load_config
from fieldmark.errors import UsageError
from tests.conftest import FIELDMARK, Fieldmark
from tests.model_server import ModelServer, Reply


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    assert len([line for line in lines if line.startswith("fieldmark: ")]) == 1, done.stderr
    for word in words:
        assert word in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--benchmark", "fika-mini"], ["fika-mini", "fieldmark-mini"]),
        (["--agent", "reactt"], ["reactt", "react", "closed_book"]),
        (["--model", "builtin/scot"], ["builtin/scot", "builtin/scout"]),
        (["--model", "gpt-5"], ["gpt-5", "--base-url"]),
        (["--model", "m", "--base-url", "localhost:8000"], ["localhost:8000", "http://"]),
        (["--tools", "ocr,telescope"], ["telescope", "ocr", "crop_zoom"]),
        (["--agent", "closed_book", "--tools", "ocr"], ["closed_book", "--tools"]),
        (["--tools", ""], ["no tools named"]),
        (["--judge", "oracle"], ["oracle", "exact"]),
        (["--tasks", "mini-99"], ["mini-99", "mini-01"]),
        (["--parallel", "0"], ["parallel", "0"]),
        (["--time-limit", "-1"], ["time_limit", "-1"]),
        (["--max-tokens", "-1"], ["max_tokens", "-1"]),
        (["--force", "temperature"], ["--force", "temperature", "KEY=VALUE"]),
        (["--force", "messages=[]"], ["force", "messages"]),
        (["--force", "temperature="], ["--force", "temperature=", "KEY=VALUE"]),
        (["--eyes-url", "http://localhost:1/v1"], ["eyes", "--eyes NAME"]),
        (["--allow", "http://"], ["allow", "http://", "wikipedia.org"]),
        (["--deny", "wikipedia.org:443"], ["deny", "wikipedia.org:443"]),
        (["--allow-local", "localhost"], ["allow_local", "localhost", "host:port"]),
        (["--registry", __file__], ["--registry", "test_bad_input.py", "CSV"]),
        (["--limit", "many"], ["--limit", "many"]),
        (["--resume", "nowhere"], ["nowhere", "run.json"]),
        (["--resume", "nowhere", "--agent", "react"], ["--agent", "--resume"]),
        (["--bogus"], ["--bogus"]),
        (["missing.toml"], ["missing.toml"]),
    ],
)
def test_a_wrong_name_or_value(fieldmark: Fieldmark, arguments: list[str], words: list[str]) -> None:
    refused(fieldmark("run", *arguments), *words)


def test_a_toml_file_with_a_wrong_key_or_wrong_syntax(fieldmark: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('agnet = "react"\n')
    refused(fieldmark("run", "run.toml"), "agnet", "run.toml", "agent")
    for key in ("model", "eyes", "limits", "force"):
        (tmp_path / "run.toml").write_text(f"{key} = 3\n")
        refused(fieldmark("run", "run.toml"), key, "3")
    (tmp_path / "run.toml").write_text("agent = react\n")
    refused(fieldmark("run", "run.toml"), "run.toml", "TOML")


def test_an_endpoint_that_does_not_answer_is_found_before_any_episode(
    fieldmark: Fieldmark, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = fieldmark("run", "--model", "m", "--base-url", url, "--out", "out")
    refused(done, url, "--base-url")
    assert not (tmp_path / "out").exists()


def test_a_model_that_the_server_does_not_have(fieldmark: Fieldmark) -> None:
    with ModelServer([Reply("x")], models=["qwen3-vl-8b"]) as server:
        done = fieldmark("run", "--model", "qwen3-vl-80b", "--base-url", server.url)
    refused(done, "qwen3-vl-80b", "qwen3-vl-8b")


def test_no_docker(fieldmark: Fieldmark) -> None:
    done = fieldmark("run", env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    refused(done, "/nowhere/docker.sock", "make setup")


def test_an_image_of_an_older_package_is_stale(
    fieldmark: Fieldmark, sandbox_image: str, tmp_path: Path
) -> None:
    """A copy of the project with one changed tool file, run from there, as after a `git pull`."""
    root = Path(__file__).parents[2]
    copy = tmp_path / "checkout"
    folders = ("fieldmark", "agents", "tools", "skills", "sandbox", "memory", "evals")
    subprocess.run(["mkdir", str(copy)], check=True)
    subprocess.run(["cp", "-a", *(str(root / name) for name in folders), str(copy)], check=True)
    with (copy / "tools" / "answer.py").open("a") as tool:
        tool.write("\n# changed\n")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from fieldmark.cli import main; main()"
    python = str(Path(FIELDMARK).with_name("python"))
    done = subprocess.run(
        [python, "-P", "-c", code, str(copy), "run"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    refused(done, "stale", "fieldmark sandbox build")


def test_a_missing_or_broken_picture(fieldmark: Fieldmark, tiny: Path, sandbox_image: str) -> None:
    (tiny.parent / "red.png").unlink()
    done = fieldmark("run", "--benchmark", tiny, "--tasks", "square-red")
    refused(done, "square-red", "its picture")  # whose name would tell the answer
    (tiny.parent / "green.png").write_bytes((tiny.parent / "green.png").read_bytes()[:200])
    done = fieldmark("run", "--benchmark", tiny, "--tasks", "square-green")
    refused(done, "square-green")


def test_one_broken_picture_among_good_ones_is_refused_and_the_run_goes_on(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, sandbox_image: str
) -> None:
    (tiny.parent / "red.png").write_bytes(b"")
    done = fieldmark("run", "--benchmark", tiny, "--agent", "closed_book", "--out", "out")
    assert done.returncode == 1, done.stderr
    assert "refused: task square-red" in done.stderr
    [entry] = json.loads((tmp_path / "out" / "run.json").read_text())["refused"]
    assert entry["id"] == "square-red"
    assert len((tmp_path / "out" / "episodes.jsonl").read_text().splitlines()) == 3


def test_a_folder_that_cannot_be_written(fieldmark: Fieldmark, tmp_path: Path, sandbox_image: str) -> None:
    (tmp_path / "file").write_text("in the way")
    refused(fieldmark("run", "--out", "file/run"), "file/run", "--out")
    if Path("/proc/sys/kernel").exists():
        refused(fieldmark("run", "--out", "/proc/run"), "/proc/run", "--out")


def test_a_folder_that_holds_a_run_already(fieldmark: Fieldmark, tiny: Path, sandbox_image: str) -> None:
    arguments = ["run", "--benchmark", tiny, "--agent", "closed_book", "--limit", "1", "--out", "out"]
    assert fieldmark(*arguments).returncode == 0
    refused(fieldmark(*arguments), "out", "--resume")


def test_a_disk_that_is_nearly_full(fieldmark: Fieldmark) -> None:
    refused(fieldmark("run", "--min-free-mb", 10**9), "nearly full", "--min-free-mb")


@pytest.mark.parametrize(
    "arguments", [["report", "nowhere"], ["tool", "telescope"], ["sandbox", "load", "no.tar"], ["nonsense"]]
)
def test_other_commands(fieldmark: Fieldmark, arguments: list[str]) -> None:
    refused(fieldmark(*arguments), arguments[-1])


def test_every_flag_of_the_model_and_the_web_may_stand_in_a_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('force = {temperature = 0}\nallow = "wikipedia.org, icao.int"\nspace = "norm1000"\n')
    config = load_config(path, {"force": {"seed": 7}})
    assert config.model.force == {"temperature": 0, "seed": 7}
    assert config.allow == ["wikipedia.org", "icao.int"]
    assert config.model.space == "norm1000"


def test_wrong_types_are_told_in_the_words_of_toml(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("qwen = 3\n")
    with pytest.raises(UsageError, match=r"prices\.qwen: give a table \(got 3\)"):
        load_config(None, {"prices": tmp_path / "prices.toml"})
    recipe = tmp_path / "my-agent.toml"
    recipe.write_text('[run]\ncommand = "my-agent --go"\n')
    with pytest.raises(UsageError, match=r"run\.command: give a list, such as"):
        read_recipe(recipe)
