"""What a tasks.jsonl must be to be loaded, and what a user is told when it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks import Benchmark, bundled_names, load_benchmark


def row(number: int, **changes: Any) -> dict[str, Any]:
    plain = {"id": f"t{number}", "question": "Which?", "image": "x.jpg", "gold": {"answer": "Saab 340"}}
    return {**plain, **changes}


def write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "tasks.jsonl"
    lines = [item if isinstance(item, str) else json.dumps(item) for item in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_benchmark(str(path))
    message = str(caught.value)
    assert "\n" not in message
    return message


def load(folder: Path, *rows: dict[str, Any] | str) -> Benchmark:
    return load_benchmark(str(write(folder, *rows)))


def test_a_file_or_its_folder_with_index_and_registry(tmp_path: Path) -> None:
    path = write(tmp_path, row(1))
    bare = load_benchmark(str(path))
    assert (bare.name, bare.index, bare.registry) == (tmp_path.name, None, None)
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "index.jsonl").write_text("")
    (tmp_path / "registry.csv").write_text("registration\n")
    full = load_benchmark(str(tmp_path))
    assert (full.index, full.registry) == (tmp_path / "index", tmp_path / "registry.csv")
    assert full.version != bare.version


def test_version_is_of_the_content(tmp_path: Path) -> None:
    first = load(tmp_path, row(1)).version
    assert load(tmp_path, row(1)).version == first
    assert load(tmp_path, row(1, question="Who?")).version != first


def test_an_unknown_name_lists_the_known_and_the_other_way(tmp_path: Path) -> None:
    message = refusal(tmp_path / "fika-typo")
    assert "fieldmark-mini" in message
    assert "tasks.jsonl" in message
    assert "tasks.jsonl" in refusal(tmp_path)
    assert bundled_names() == ["fieldmark-mini"]


def test_duplicate_ids_name_both_lines(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, row(1), row(2), row(1)))
    assert "'t1' stands on lines 1 and 3" in message


@pytest.mark.parametrize("answer", ["", None, "   ", "\u200b\u2060", [], {}])
def test_an_empty_reference_is_refused(tmp_path: Path, answer: object) -> None:
    assert "line 1: empty or missing reference" in refusal(write(tmp_path, row(1, gold={"answer": answer})))


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    assert "line 2: half a surrogate pair" in refusal(write(tmp_path, row(1), row(2, id="a\ud800")))


def test_a_file_of_another_kind_is_told_what_to_be(tmp_path: Path) -> None:
    table = tmp_path / "tasks.csv"
    table.write_text("id,image,question,answer\n")
    assert "tasks.csv is not a .jsonl file" in refusal(table)


def test_no_gold_and_blank_aliases_are_refused(tmp_path: Path) -> None:
    rows = row(1, gold=None), row(2, gold={"answer": "a", "aliases": [" "]}), row(3, gold={"answer": "a"})
    message = refusal(write(tmp_path, *rows))
    assert "line 1: empty or missing reference" in message
    assert "line 2: empty entry in aliases" in message
    assert "2 problems" in message


@pytest.mark.parametrize("region", [[4, 0, 2, 9], [0, 0, 0, 9], [-1, 0, 2, 9], [0, 0, 2], "left"])
def test_a_region_is_a_box_in_pixels(tmp_path: Path, region: object) -> None:
    gold = {"answer": "a", "regions": [[0, 0, 2.5, 9]]}
    assert load(tmp_path, row(1, gold=gold)).tasks[0].gold.regions == [(0, 0, 2.5, 9)]
    assert "line 1: gold.regions" in refusal(write(tmp_path, row(1, gold=gold | {"regions": [region]})))


def test_all_problems_at_once_the_first_shown_the_rest_counted(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, *(row(number, gold={"answer": ""}) for number in range(9))))
    assert "9 problems" in message
    assert message.count("empty or missing") == 5
    assert "and 4 more" in message


def test_malformed_lines_and_unknown_keys(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "{no", "[1]", row(3, colour="red"), row(4, labels={"size": "XL"})))
    assert "line 1: malformed JSON" in message
    assert "line 2: not a JSON object" in message
    assert "line 3: unknown key colour" in message
    assert "line 4: unknown key labels.size" in message


def test_bytes_that_are_no_text_and_too_deep_nesting(tmp_path: Path) -> None:
    path = write(tmp_path, row(1), "[" * 100_000)
    path.write_bytes(path.read_bytes() + b'{"id": "\xff"}\n')
    message = refusal(path)
    assert "line 2: malformed JSON" in message
    assert "line 3: not UTF-8" in message


@pytest.mark.parametrize("image", ["../x.jpg", "a/../../x.jpg", "/etc/passwd", "out/x.jpg", "a\0b"])
def test_a_picture_outside_the_folder_is_refused(tmp_path: Path, image: str) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    assert "line 1: " in refusal(write(folder, row(1, image=image)))


def test_a_missing_picture_is_left_to_the_preflight(tmp_path: Path) -> None:
    assert load(tmp_path, row(1)).tasks[0].image == tmp_path.resolve() / "x.jpg"


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert "no task" in refusal(write(tmp_path, ""))


@pytest.mark.parametrize("written", ["7", "1.10", "12345678901234567890123", "1e3"])
def test_a_number_as_id_stays_as_written(tmp_path: Path, written: str) -> None:
    line = json.dumps(row(1)).replace('"t1"', written)
    assert load(tmp_path, line).tasks[0].id == written


@pytest.mark.parametrize("category", [None, "", "  ", ["A", "B"]])
def test_a_category_that_is_none_counts_as_none(tmp_path: Path, category: object) -> None:
    tasks = load(tmp_path, row(1, labels={"top": category}), row(2, category=category), row(3)).tasks
    assert [task.labels.top for task in tasks] == ["(none)"] * 3


def test_categories_that_differ_in_case_are_kept_and_pointed_out(tmp_path: Path) -> None:
    loaded = load(tmp_path, *(row(n, category=name) for n, name in enumerate(("Bird", "bird", ["A"]))))
    assert [task.labels.top for task in loaded.tasks] == ["Bird", "bird", "(none)"]
    assert any("'Bird' and 'bird'" in warning for warning in loaded.warnings)
    assert any("line 3" in warning for warning in loaded.warnings)


def test_flat_rows(tmp_path: Path) -> None:
    flat = {"id": "a", "question": "q?", "image": "x.jpg", "answer": "ok", "aliases": ["o.k."], "split": "s"}
    task = load(tmp_path, flat).tasks[0]
    assert (task.gold.answer, task.gold.aliases, task.labels.split) == ("ok", ["o.k."], "s")
    assert "beside and inside" in refusal(write(tmp_path, row(1, answer="other")))


def test_importing_is_cheap() -> None:
    code = "import sys, fieldmark.evals.benchmarks; print({'numpy', 'PIL', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_facets_are_labels_of_ones_own(tmp_path: Path) -> None:
    [task] = load(tmp_path, row(1, labels={"facets": {"perception type": "counting"}})).tasks
    assert task.labels.value("perception type") == "counting"
    assert task.labels.value("colour") is None
    message = refusal(write(tmp_path, row(1, labels={"facets": {"top": "x"}})))
    assert "labels.facets: Value error, top is no facet but a label" in message
    assert "a facet is a name and a text" in refusal(write(tmp_path, row(1, labels={"facets": {"a": " "}})))
