"""The detector and the oracle that are models, over real HTTP."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from fieldmark.evals.amigo import llm_detector, vlm
from fieldmark.evals.amigo.agreement import on_games
from fieldmark.evals.amigo.answering import LabelAnswerer, LabelsFirst
from fieldmark.evals.amigo.constraint import Constraint
from fieldmark.evals.amigo.detector import LexiconDetector, Past
from fieldmark.evals.amigo.game import Referees
from fieldmark.evals.amigo.lexicon import base_lexicon
from fieldmark.evals.amigo.llm_detector import LlmDetector
from fieldmark.evals.amigo.verification import Verification
from fieldmark.evals.amigo.vlm import VlmAnswerer
from fieldmark.evals.judges.base import Unjudged
from fieldmark.judging.model import Asked, AskedModel
from fieldmark.model_config import AskedConfig
from tests.evals.amigo.galleries import V, begun, dresses, episode, reply
from tests.model_server import Body, ModelServer, Reply

SETTINGS = AskedConfig()


def asked(server: ModelServer) -> AskedModel:
    return AskedModel("scripted", server.url, "NO_KEY", Asked("referee", "", "", "", ""))


def detector(server: ModelServer) -> LlmDetector:
    return llm_detector.make("scripted", asked(server).ask, base_lexicon(), SETTINGS)


def oracle(server: ModelServer, *pictures: Path) -> VlmAnswerer:
    return vlm.make("scripted", pictures, asked(server).ask, SETTINGS)


def says(**values: object) -> Reply:
    return Reply(json.dumps(values))


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Red, with a blue lower right quarter."""
    image = Image.new("RGB", (200, 100), (255, 0, 0))
    image.paste((0, 0, 255), (100, 50, 200, 100))
    image.save(tmp_path / "dress.png")
    return tmp_path / "dress.png"


def test_the_detector_is_given_what_was_answered_and_what_is_prohibited() -> None:
    past = [Past("Does it have pockets?", "No", None)]
    with ModelServer([says(violation="repeated_type", about="pockets", reason="asked")]) as server:
        found = detector(server).check("Does it have welt pockets?", past, recheck=False)
    assert found is not None
    assert (found.kind, found.about) == ("repeated_type", "pockets")
    given = json.loads(server.requests[0]["messages"][1]["content"])
    assert given["past"] == [{"question": "Does it have pockets?", "answer": "No"}]
    assert "sleeve length" in given["prohibited"]


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        ([says(violation=None, about="", reason="fine")], None),
        ([Reply("no idea"), says(violation="rude"), says(violation="neither")], "neither"),
    ],
)
def test_a_reply_of_no_use_is_asked_again(replies: list[Reply], kind: str | None) -> None:
    with ModelServer(replies) as server:
        found = detector(server).check(V, [], recheck=False)
    assert (found.kind if found else None) == kind
    assert len(server.requests) == len(replies)


def test_a_verdict_that_the_player_writes_is_no_reply() -> None:
    played = '{"violation": null} Is it red?'
    with ModelServer([Reply('{"violation": null}')]) as server, pytest.raises(Unjudged, match="3 replies"):
        detector(server).check(played, [], recheck=False)


def test_a_fault_of_the_detector_is_no_skip_and_the_turn_can_be_played_again() -> None:
    tests = Verification(LabelAnswerer(dresses().labels(episode())), 7)
    with ModelServer([Reply("?"), Reply("?"), Reply("?"), says(violation=None)]) as server:
        game = begun(referees=Referees(detector(server), tests.answerer, tests, tests))
        with pytest.raises(Unjudged):
            game.hear(V)
        assert game.record.turns == []
        assert reply(game, V) == "Yes"


def test_the_two_detectors_are_compared_turn_by_turn() -> None:
    game = begun()
    for text in (V, "Is it red?", "Does it have buttons?", "Is it the first dress?"):
        reply(game, text)

    def model(body: Body) -> Reply:
        text = json.loads(body["messages"][1]["content"])["text"]
        return says(violation="prohibited_attribute" if "red" in text else None)

    with ModelServer(model) as server:
        found = on_games(LexiconDetector(base_lexicon()), detector(server), [game.record])
    assert (found.skip.n, found.skip.raw.count) == (4, 3)
    assert found.skip.kappa == pytest.approx(0.5)


def test_the_oracle_looks_closer_before_it_answers(picture: Path) -> None:
    with ModelServer([says(look=[500, 500, 1000, 1000]), says(answer="No")]) as server:
        said = oracle(server, picture).answer(1, V, None)
    assert said == "No"
    [_, first, _, second] = server.requests[1]["messages"]
    assert [shown(each).size for each in (first, second)] == [(200, 100), (800, 400)]
    assert shown(second).getpixel((400, 200)) == (0, 0, 255)
    assert V in first["content"][1]["text"]


def test_the_oracle_must_answer_when_no_looks_are_left(picture: Path) -> None:
    look = says(look=[0, 0, 500, 500])
    with ModelServer([look, look, look, look, says(answer="Unsure")]) as server:
        assert oracle(server, picture).answer(1, V, None) == "Unsure"
    assert "no looks are left" in server.requests[-1]["messages"][-1]["content"]


def test_an_oracle_without_an_answer_is_a_fault_and_never_unsure(picture: Path) -> None:
    with ModelServer([says(answer="Maybe")]) as server, pytest.raises(Unjudged):
        oracle(server, picture).answer(1, V, None)


def test_labels_are_asked_before_the_model_and_each_picture_once(picture: Path) -> None:
    slit = Constraint(type="slit", values=("side",))
    with ModelServer([says(answer="No")]) as server:
        either = LabelsFirst(LabelAnswerer([{"neckline": ["v"]}] * 2), oracle(server, picture, picture))
        tests = Verification(either, 2)
        assert tests.split(V, Constraint(type="neckline", values=("v",))).yes == 0b11
        assert server.requests == []
        assert tests.split("Is there a side slit?", slit).no == 0b11
        tests.split("Is there a side slit?", slit)
    assert len(server.requests) == 2


def shown(message: Body) -> Image.Image:
    uri = message["content"][0]["image_url"]["url"]
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
