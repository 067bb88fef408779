"""Recipes: what a good one becomes, and the one line that a bad one gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fieldmark.agents.external.adapter import Output, Setting
from fieldmark.agents.external.recipe import VALUES, Recipe, read_recipe
from fieldmark.agents.external.recipe_agent import RecipeAdapter
from fieldmark.agents.registry import agent_name, get_agent, recipe_names
from fieldmark.errors import UsageError
from fieldmark.sandbox.build_context import kit_files
from fieldmark.task import Prompt
from fieldmark.trace import Picture

WHOLE = """
[install]
npm = ["@they/agent@1.2.3"]
[needs]
memory_mb = 2000
[run]
command = ["agent", "--model", "$model", "--cost", "$$1"]
stdin = "$text"
[picture]
arguments = ["--image=$picture"]
text = "See @$picture"
[env]
BASE = "$base_url"
[files]
"$home/agent.json" = '{"sees": $sees, "context": $context, "skills": "$skills"}'
[skills]
folder = "$workspace/.agent/skills"
"""


def write(folder: Path, text: str, name: str = "my-agent.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def setting(folder: Path, *, sees: bool = True) -> Setting:
    view = Picture(blob="0" * 64, media_type="image/png", width=4, height=3)
    prompt = Prompt(token="t", question="What is it?", image=view, view=view, model="qwen3-vl", sees=sees)
    picture = folder / "picture.png"
    return Setting(prompt, 'What is "it" for $5?', picture, folder, folder / "home", "http://h/v1", {})


def adapter(folder: Path, text: str) -> RecipeAdapter:
    return RecipeAdapter(*read_recipe(write(folder, text)))


def said(folder: Path, answer: str, stdout: str) -> str:
    made = adapter(folder, f'[run]\ncommand = ["a"]\n[answer]\n{answer}')
    return made.collect(Output(stdout, "", 0), setting(folder)).text


def test_values_are_put_in(tmp_path: Path) -> None:
    made = adapter(tmp_path, WHOLE)
    launch = made.prepare(setting(tmp_path))

    picture = tmp_path / "picture.png"
    assert launch.argv == ["agent", "--model", "qwen3-vl", "--cost", "$1", f"--image={picture}"]
    assert launch.stdin == f'What is "it" for $5?\n\nSee @{picture}'
    assert launch.env == {"BASE": "http://h/v1"}
    skills = tmp_path / ".agent/skills"
    told = f'{{"sees": true, "context": 65536, "skills": "{skills}"}}'
    assert launch.files == {tmp_path / "home/agent.json": told}
    assert launch.skills == skills


def test_a_model_that_does_not_see_gets_no_picture(tmp_path: Path) -> None:
    launch = adapter(tmp_path, WHOLE).prepare(setting(tmp_path, sees=False))

    assert "picture" not in " ".join(launch.argv) + launch.stdin
    assert '"sees": false' in "".join(launch.files.values())


def test_what_it_needs_and_how_it_is_called(tmp_path: Path) -> None:
    agent = get_agent(str(write(tmp_path, WHOLE)))

    assert (agent.name, agent.uses_tools) == ("my-agent", True)
    assert agent_name(str(tmp_path / "my-agent.toml")) == "my-agent"
    assert (agent.needs.memory_mb, agent.needs.pids) == (2000, 256)
    assert agent.needs.kit
    assert agent.needs.kit.npm == ("@they/agent@1.2.3",)


def test_without_packages_the_usual_image_will_do(tmp_path: Path) -> None:
    assert get_agent(str(write(tmp_path, '[run]\ncommand = ["cat"]'))).needs.kit is None


@pytest.mark.parametrize(
    ("answer", "stdout", "text"),
    [
        ("", "all of it\n", "all of it\n"),
        ('format = "json"\nfield = "final"', '{"final": "red"}', "red"),
        ('format = "json"\nfield = "messages.-1.text"', '{"messages": [{"text": "a"}, {"text": "b"}]}', "b"),
        ('format = "json"\nfield = "messages.7"', '{"messages": []}', ""),
        ('format = "json"\nfield = "final"', '{"final": {"answer": "red"}}', '{"answer": "red"}'),
        ('format = "json"\nfield = "final"', "Traceback", ""),
        ('format = "jsonl"\nfield = "text"', '{"text": "a"}\nnoise\n{"text": "b"}\n{"other": 1}\n[1]', "b"),
        (
            'format = "jsonl"\nfield = "item.text"\nwhere = { type = "done", "item.kind" = "said" }',
            '{"type": "done", "item": {"kind": "said", "text": "red"}}\n{"type": "done", "item": {}}',
            "red",
        ),
    ],
)
def test_the_answer_is_where_the_recipe_says(tmp_path: Path, answer: str, stdout: str, text: str) -> None:
    assert said(tmp_path, answer, stdout) == text


def test_the_answer_may_be_in_a_file(tmp_path: Path) -> None:
    assert said(tmp_path, 'file = "$workspace/out.txt"', "noise") == ""
    (tmp_path / "out.txt").write_text("red")
    assert said(tmp_path, 'file = "$workspace/out.txt"', "noise") == "red"


def test_without_a_place_the_models_last_words_count(tmp_path: Path) -> None:
    made = adapter(tmp_path, '[run]\ncommand = ["a"]')

    assert made.collect(Output("noise", "", 0), setting(tmp_path)).text == ""


def test_the_error_and_the_last_line(tmp_path: Path) -> None:
    text = '[run]\ncommand = ["a"]\n[answer]\nformat = "jsonl"\nfield = "t"\nlast = { end = true }\n'
    made = adapter(tmp_path, f'{text}[error]\nwhere = {{ bad = true }}\nfield = "why"')

    assert not made.is_final('{"t": "red"}')
    assert made.is_final('{"t": "red"}\n{"end": true}')
    collected = made.collect(Output('{"bad": true, "why": "no\\nmodel"}', "", 1), setting(tmp_path))
    assert (collected.text, collected.error) == ("", "no model")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "my-agent.toml: run is missing"),
        ("[run]\ncommand = []", "run.command: "),
        ("[run", "my-agent.toml is not valid TOML: "),
        ('[run]\ncommand = ["a"]\nshell = true', "unknown key 'run.shell': here are the keys command, stdin"),
        ('[run]\ncommand = ["a"]\n[runs]', "unknown key 'runs': here are the keys wire, install, "),
        ('[run]\ncommand = ["a"]\n[error]\nx = 1', "error.field is missing"),
        ('[run]\ncommand = ["$promt"]', r"run.command: no value $promt: there are $text, $picture, "),
        ('[run]\ncommand = ["a"]\nstdin = "5 $"', "run.stdin: a $ that names no value: write $$"),
        ('[run]\ncommand = ["a"]\n[files]\n"$tmp/x" = ""', "files.$tmp/x: no value $tmp"),
        (
            '[run]\ncommand = ["a"]\n[install]\nnpm = ["a"]',
            "npm: 'a' is not pinned: write name@1.2.3",
        ),
        ('[run]\ncommand = ["a"]\n[install]\npip = ["a>=1"]', "'a>=1' is not pinned: write name==1.2.3"),
        ('[run]\ncommand = ["a"]\n[needs]\nmemory_mb = 1', "needs.memory_mb: "),
        ('[run]\ncommand = ["a"]\n[answer]\nformat = "xml"', "answer.format: "),
        ('[run]\ncommand = ["a"]\n[answer]\nformat = "json"', "answer.field: say which field of the json"),
        ('[run]\ncommand = ["a"]\n[answer]\nfield = "x"', "answer: a text has no fields"),
    ],
)
def test_a_bad_recipe_gets_one_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)) as raised:
        read_recipe(write(tmp_path, text))
    assert "\n" not in str(raised.value)
    assert "my-agent.toml" in str(raised.value)


def test_files_that_are_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*gone.toml: No such file"):
        get_agent(str(tmp_path / "gone.toml"))
    with pytest.raises(UsageError, match=r"my agent.toml: call it by small letters"):
        get_agent(str(write(tmp_path, WHOLE, "my agent.toml")))
    with pytest.raises(UsageError, match=r"a file that ends in .py or .toml"):
        get_agent(str(tmp_path / "agent.yaml"))


@pytest.mark.parametrize("name", recipe_names())
def test_each_of_ours_is_one(name: str) -> None:
    agent = get_agent(name)

    kit = agent.needs.kit

    assert agent.name == name
    assert kit
    assert not kit.pip or kit_files(kit)["requirements.txt"].count(b"==") > 30  # locked, with all they need


def test_a_lock_of_ours_is_not_for_a_recipe_of_the_same_name(tmp_path: Path) -> None:
    text = '[install]\npip = ["smolagents==1.0.0"]\n[run]\ncommand = ["a"]'
    kit = get_agent(str(write(tmp_path, text, "smolagents.toml"))).needs.kit

    assert kit
    assert kit_files(kit) == {"requirements.txt": b"smolagents==1.0.0"}


def test_every_table_and_value_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs/recipes.md").read_text()

    assert all(f"`[{table}]`" in page or f"`{table}`" in page for table in Recipe.model_fields)
    assert all(f"`${value}`" in page for value in VALUES)
