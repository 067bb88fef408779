"""A stranger's run folder, opened here: it names his server and my key, his file as the judge, my files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.rundir import RunDir
from fieldmark.trust import check, named_by_run, remember
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder
from tests.model_server import ModelServer, Reply

SECRET = "sk-mine-0123456789"
RIGHT = Reply(json.dumps({"verdict": "correct", "score": 1.0, "reason": "so it is"}))
Stranger = Callable[..., RunDir]
Mine = Callable[..., Any]


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    """`stranger(judge={…}, paths={…})`: a finished run of one wrong answer, as someone else packed it."""

    def build(*, paths: dict[str, Any] | None = None, **config: Any) -> RunDir:
        built = RunBuilder(tmp_path / "his", judge="exact", config={"judge": "exact", **config}).task("t")
        built.episode("t", verdict="incorrect").answer("Saab 340")
        folder = built.finish()
        folder.verdicts_file.unlink()  # there is something to judge
        folder.write_paths(paths or {})
        return folder

    return build


@pytest.fixture
def mine(fieldmark: Fieldmark, tmp_path: Path) -> Mine:
    """The command of a user who has a key, and has named nothing yet."""
    own = {"LAB_KEY": SECRET, "XDG_STATE_HOME": str(tmp_path / "state")}
    return lambda *arguments, **env: fieldmark(*arguments, env={**own, **env})


def llm(server: ModelServer) -> dict[str, Any]:
    return {"name": "llm", "model": "scripted", "base_url": server.url, "key_env": "LAB_KEY"}


def test_judge_sends_my_key_to_his_server_only_when_i_say_so(stranger: Stranger, mine: Mine) -> None:
    with ModelServer([RIGHT]) as server:
        stranger(judge=llm(server))
        refused = mine("judge", "his")
        asked = len(server.requests)
        trusted = mine("judge", "his", "--trust")
        again = mine("judge", "his", "--anew")  # said once
        keys = set(server.keys)
    assert (refused.returncode, asked, refused.stderr.count("\n")) == (2, 0, 1)
    assert "his would use $LAB_KEY as the key for http://127.0.0.1:" in refused.stderr
    assert SECRET not in refused.stderr
    assert (trusted.returncode, again.returncode) == (0, 0)
    assert keys == {f"Bearer {SECRET}"}


def test_classify_neither(stranger: Stranger, mine: Mine) -> None:
    with ModelServer([RIGHT]) as server:
        stranger(classifier={key: value for key, value in llm(server).items() if key != "model"})
        refused = mine("classify", "his")
        asked = len(server.requests)
    assert (refused.returncode, asked) == (2, 0)
    assert "add --trust" in refused.stderr


def test_a_server_that_i_named_in_an_option_needs_no_further_word(stranger: Stranger, mine: Mine) -> None:
    with ModelServer([RIGHT]) as server:
        stranger()
        named = ["--judge-url", server.url, "--judge-key-env", "LAB_KEY"]
        first = mine("judge", "his", "--judge", "llm", "--judge-model", "scripted", *named)
        again = mine("judge", "his")
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr


def test_his_python_file_is_not_run_as_the_judge(stranger: Stranger, mine: Mine, tmp_path: Path) -> None:
    file = tmp_path / "his-judge.py"
    file.write_text("open('ran', 'w')\ndef judge(question, gold, answer): return True\n")
    stranger(paths={"judge": str(file)})
    refused = mine("judge", "his")
    ran = (tmp_path / "ran").exists()
    trusted = mine("judge", "his", "--trust")
    assert (refused.returncode, ran) == (2, False)
    assert f"would use the Python file {file}" in refused.stderr
    assert trusted.returncode == 0, trusted.stderr
    assert (tmp_path / "ran").exists()


def test_resume_and_fork_do_not_send_it_either(stranger: Stranger, mine: Mine, tiny: Path) -> None:
    with ModelServer([RIGHT]) as server:
        model = {"name": "scripted", "base_url": server.url, "key_env": "LAB_KEY"}
        stranger(model=model, agent="react", benchmark=str(tiny))
        resumed = mine("run", "--resume", "his")
        forked = mine("fork", "his", "t", "--event", 0, "--reply", "x")
        asked = len(server.requests)
    assert (resumed.returncode, forked.returncode, asked) == (2, 2, 0)
    for refused in (resumed, forked):
        assert "add --trust" in refused.stderr


@pytest.mark.parametrize(
    "command", [["report", "his"], ["show", "his", "t"], ["export", "his", "--csv", "o"]]
)
def test_looking_at_it_asks_no_server_and_reads_no_file_that_it_names(
    stranger: Stranger, mine: Mine, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "mine.txt").write_text(SECRET)
    with ModelServer([RIGHT]) as server:
        folder = stranger(
            judge=llm(server), model={"name": "m", "base_url": server.url, "key_env": "LAB_KEY"},
            paths={name: str(tmp_path / "mine.txt") for name in ("judge", "site", "data", "prompts")},
        )  # fmt: skip
        rows = [json.loads(line) for line in folder.episodes_file.read_text().splitlines()]
        folder.episodes_file.write_text(
            "".join(json.dumps({**row, "trace": "../mine.txt"}) + "\n" for row in rows)
        )
        done = mine(*command)
        assert server.requests == []
    assert done.returncode in (0, 2), done.stderr
    made = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "mine.txt"]
    assert SECRET not in done.stdout + done.stderr
    assert not [path for path in made if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "config",
    [
        {"eyes": {"name": "e", "base_url": "https://his.example/v1", "key_env": "LAB_KEY"}},
        {"judge": {"name": "llm", "model": "m", "base_url": "https://his.example", "key_env": "LAB_KEY"}},
        {"model": {"name": "m", "base_url": "https://his.example:444/v1?k=1", "key_env": "LAB_KEY"}},
        {"search": "serpapi", "serpapi_key_env": "LAB_KEY"},
        {"agent": "/his/agent.py"},
        {"tool": ["/his/tool.py"]},
        {"judge": {"name": "llm", "model": "m", "prompts": "/his/prompts"}},
        {"judge": {"name": "fine-r1", "variant": "semantic", "siglip": "/his/weights"}},
    ],
)
def test_all_that_a_run_can_name(
    config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", SECRET)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    named = named_by_run(RunConfig.model_validate(config))
    with pytest.raises(UsageError, match="which you have not named on this machine"):
        check(tmp_path / "his", named, trust=False)
    remember(named)
    check(tmp_path / "his", named, trust=False)
    kept = tmp_path / "state" / "fieldmark" / "named"
    assert SECRET not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_another_variable_or_port_is_another_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    told = {"name": "m", "base_url": "https://mine.example/v1", "key_env": "LAB_KEY"}
    for name in ("LAB_KEY", "CLOUD_SECRET"):
        monkeypatch.setenv(name, SECRET)
    remember(named_by_run(RunConfig.model_validate({"model": told})))
    for change in ({"key_env": "CLOUD_SECRET"}, {"base_url": "https://mine.example:8443/v1"}):
        with pytest.raises(UsageError):
            check(tmp_path, named_by_run(RunConfig.model_validate({"model": told | change})), trust=False)
