"""A run judged again, without being run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.judges import get_judge
from fieldmark.evals.judges.base import Unjudged
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.sections import tables
from fieldmark.judging.again import Judged, judge_again, recorded_judge
from fieldmark.judging.episodes import OUTAGES, EpisodeJudge
from fieldmark.model_config import JudgeConfig
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.upstream import TRIES
from fieldmark.task import Gold
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder
from tests.model_server import Body, ModelServer, Reply

TASKS = 10
RIGHT, WRONG = (
    Reply(json.dumps({"verdict": label, "score": score, "reason": "SECRET says so"}))
    for label, score in (("correct", 1), ("incorrect", 0))
)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """Ten answers that `exact` found wrong, and an episode that timed out."""
    built = RunBuilder(tmp_path / "out", judge="exact", config={"judge": "exact"})
    for number in range(TASKS):
        built.task(f"t{number}").episode(f"t{number}", verdict="incorrect").event(
            "sandbox", "answer", text="Saab 340", raw=f"plane {number}: a Saab 340", rationale="the nose"
        )
    built.task("late").episode("late", status="timeout", verdict="incorrect")
    folder = built.finish()
    rows = jsonl.read(folder.verdicts_file).rows
    jsonl.write_all(folder.verdicts_file, [{**row, "judge": "exact"} for row in rows])
    return folder


def llm(server: ModelServer, **more: Any) -> JudgeConfig:
    return JudgeConfig(name="llm", model="scripted", base_url=server.url, **more)


def judge(run: RunDir, settings: JudgeConfig) -> Judged:
    return judge_again(run, settings, lambda line: None)


def labels(run: RunDir) -> list[str]:
    return [verdict.label for verdict in run.verdicts().values()]


def test_one_unreadable_reply_leaves_one_answer_unjudged_until_it_is_tried_again(
    fieldmark: Fieldmark, run: RunDir
) -> None:
    replies = {"t3": Reply("Hm, incorrect.")}

    def garbled(body: Body) -> Reply:
        return replies.get("t3", RIGHT) if "plane 3:" in str(body) else RIGHT

    with ModelServer(garbled) as server:
        options = ["--judge", "llm", "--judge-model", "scripted", "--judge-url", server.url]
        first = fieldmark("judge", "out", *options, "--json")
        overall = summarise(run).accuracy.headline
        [left] = jsonl.read(run.unjudged_file).rows
        replies.clear()
        asked = len(server.requests)
        again = fieldmark("judge", "out", "--retry")
    assert first.returncode == 1, first.stderr
    done = json.loads(first.stdout)
    assert (done["judged"], done["unjudged"], done["before"], done["changed"]) == (TASKS, 1, "exact", 9)
    assert "t3 stays unjudged: 3 replies of the judge without a verdict" in first.stderr
    assert (left["id"], left["reply"]) == ("t3", "Hm, incorrect.")
    assert (overall.unjudged, overall.strict.count, overall.strict.n) == (1, 9, 10)
    assert again.returncode == 0, again.stderr
    assert "1 judged now, 10 before, 0 unjudged" in again.stdout
    assert len(server.requests) == asked + 1
    assert labels(run).count("correct") == TASKS
    told = json.loads(server.requests[-1]["messages"][1]["content"])
    assert (told["model_raw_content"], told["model_rationale"]) == ("plane 3: a Saab 340", "the nose")


def test_judges_are_kept_apart_and_the_first_one_costs_nothing(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    with ModelServer([RIGHT]) as server:
        judge(run, llm(server))
        assert labels(run).count("correct") == TASKS
        judge(run, JudgeConfig())
        assert set(labels(run)) == {"incorrect"}
        back = judge(run, llm(server))
    assert (back.judged, back.kept, back.unjudged) == (0, TASKS + 1, 0)
    assert len(server.requests) == TASKS
    assert set(server.keys) == {"Bearer k-1"}
    config = run.config()
    assert config["judge"].startswith("llm/scripted/")
    assert config["judges"][config["judge"]]["temperature"] == 0
    assert len(config["judges"][config["judge"]]["prompt_sha256"]) == 64
    assert summarise(run).run.judges == [config["judge"]]
    public = run.run_json.read_text() + run.verdicts_file.read_text()
    assert "k-1" not in public
    assert "SECRET" not in public
    assert "SECRET says so" in run.reasons_file.read_text()


def test_without_quota_the_judging_ends_and_all_the_rest_is_unjudged(run: RunDir) -> None:
    broke = Reply(status=429, error={"message": "pay", "code": "insufficient_quota"}, delay=0.1)
    said: list[str] = []
    with ModelServer([broke]) as server:
        done = judge_again(run, llm(server), said.append)
    assert done.unjudged == TASKS
    assert len(server.requests) < TASKS
    [line] = said
    assert line.startswith("the judging ends here, what is left stays unjudged:")
    assert "quota is used up" in line


def test_a_server_that_stays_down_is_not_asked_for_every_answer(run: RunDir) -> None:
    down = Reply(status=503, headers={"Retry-After": "0"})
    with ModelServer([down]) as server:
        each = EpisodeJudge(get_judge(llm(server)), run)
        for record in run.episodes()[:5]:
            with pytest.raises(Unjudged, match="HTTP 503"):
                each.judge("What is this?", Gold(answer="a Saab"), record)
    assert len(server.requests) == OUTAGES * TRIES


def test_a_panel_reports_how_far_its_votes_agree(run: RunDir) -> None:
    def seeded(body: Body) -> Reply:
        split = "plane 0:" in str(body) or "plane 1:" in str(body)
        return WRONG if split and body["seed"] % 2 else RIGHT

    with ModelServer(seeded) as server:
        judge(run, llm(server, votes=2))
    summary = summarise(run)
    assert labels(run).count("uncertain") == 2
    [table] = [table for table in tables(summary) if table.title == "Judging"]
    assert table.rows == [
        ["votes agree, mean", "10 answers", "90.0"],
        ["unanimous", "8/10", "80.0"],
        ["tied, so uncertain", "2/10", "20.0"],
    ]


def test_answers_that_are_finer_than_the_reference_are_counted(run: RunDir) -> None:
    finer = Reply(json.dumps({"verdict": "correct", "score": 1, "finer": True, "reason": "the variant"}))
    with ModelServer(lambda body: finer if "plane 0:" in str(body) else RIGHT) as server:
        judge(run, llm(server, temperature="none"))
    [table] = [table for table in tables(summarise(run)) if table.title == "Judging"]
    assert table.rows == [["correct, and finer than the reference", "1/10", "10.0"]]
    assert "temperature" not in server.requests[0]
    assert recorded_judge(run).temperature == "none"


def test_prompts_of_the_users_own_are_found_again(run: RunDir, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "llm.md").write_text("Judge as you like.")
    with ModelServer([RIGHT]) as server:
        judge(run, llm(server, prompts=tmp_path / "mine"))
    assert recorded_judge(run).prompts == tmp_path / "mine"
    assert str(tmp_path) not in run.run_json.read_text()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["out", "--judge", "oracle"], "unknown judge 'oracle'"),
        (["out", "--judge", "exact", "--retry"], "leave the options of the judge out"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    fieldmark: Fieldmark, run: RunDir, arguments: list[str], why: str
) -> None:
    done = fieldmark("judge", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert why in done.stderr


def test_a_model_that_is_not_served_and_gold_that_is_gone_change_nothing(run: RunDir) -> None:
    with pytest.raises(UsageError, match="--judge-url"):
        judge(run, JudgeConfig(name="llm", model="m", base_url="http://127.0.0.1:9"))
    with ModelServer([RIGHT], models=["other"]) as server, pytest.raises(UsageError, match="serves other"):
        judge(run, llm(server))
    run.gold_file.unlink()
    with ModelServer([RIGHT]) as server, pytest.raises(UsageError, match="no gold for 't0'"):
        judge(run, llm(server))
    assert run.config()["judge"] == "exact"
