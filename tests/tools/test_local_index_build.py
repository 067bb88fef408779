"""Building an index: only what changed is described, a cut build goes on, a broken file stops nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from fieldmark.errors import UsageError
from fieldmark.tools.image_index.building import build
from fieldmark.tools.image_index.describing import describe_files
from fieldmark.tools.image_index.local_index import LocalIndex
from tests.tools.pictures import png, scene

SMALL = (160, 120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three pictures of two entities."""
    path = tmp_path / "pictures"
    for seed, entity in enumerate(("owl", "owl", "kite")):
        (path / entity).mkdir(parents=True, exist_ok=True)
        (path / entity / f"{seed}.png").write_bytes(png(scene(seed, SMALL)))
    return path


def entity_of(folder: Path, seed: int) -> str:
    return LocalIndex.open(folder).query(png(scene(seed, SMALL)), 1)[0].entity


def test_only_new_and_changed_pictures_are_described(folder: Path) -> None:
    assert build(folder).described == 3
    assert build(folder).described == 0
    (folder / "kite" / "2.png").write_bytes(png(scene(7, SMALL)))
    (folder / "kite" / "8.png").write_bytes(png(scene(8, SMALL)))
    (folder / "owl" / "1.png").unlink()
    built = build(folder)
    assert (built.pictures, built.described, built.removed) == (3, 2, 1)
    assert entity_of(folder, 7) == "kite"
    assert [path.name for path in (folder / ".fieldmark-index").glob("arrays-*")] == ["arrays-2"]


def test_other_labels_are_taken_over_without_describing(folder: Path, tmp_path: Path) -> None:
    build(folder)
    labels = tmp_path / "labels.tsv"
    labels.write_text("file\tlabel\nowl/0.png\teagle owl\nowl/1.png\tbarn owl\nkite/2.png\tred kite\n")
    assert build(folder, labels).described == 0
    assert [entity_of(folder, seed) for seed in range(3)] == ["eagle owl", "barn owl", "red kite"]


def test_broken_pictures_are_reported_every_time_and_left_out(folder: Path) -> None:
    (folder / "owl" / "empty.jpg").touch()
    (folder / "owl" / "cut.png").write_bytes(png(scene(0, SMALL))[:2000])
    (folder / "owl" / "text.gif").write_text("hello")
    (folder / "owl" / "dangling.jpg").symlink_to("nowhere")
    for described in (3, 0):
        built = build(folder)
        assert (built.pictures, built.described) == (3, described)
        assert [file for file, _ in built.problems] == [
            "owl/cut.png", "owl/dangling.jpg", "owl/empty.jpg", "owl/text.gif",
        ]  # fmt: skip
    (folder / "owl" / "empty.jpg").write_bytes(png(scene(5, SMALL)))
    assert len(build(folder).problems) == 3


def test_a_folder_of_broken_pictures_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    with pytest.raises(UsageError, match=r"no readable picture; the first: empty.jpg: the file is empty"):
        build(tmp_path)
    with pytest.raises(UsageError, match="never finished"):
        LocalIndex.open(tmp_path)


def test_pictures_without_a_single_key_point_are_found_by_their_look(tmp_path: Path) -> None:
    for colour in ("red", "blue"):
        (tmp_path / colour).mkdir()
        (tmp_path / colour / "flat.png").write_bytes(png(Image.new("RGB", SMALL, colour)))
    build(tmp_path)
    hits = LocalIndex.open(tmp_path).query(png(Image.new("RGB", (90, 90), "red")), 2)
    assert [hit.score < 0.5 for hit in hits] == [True, True]


def test_an_index_elsewhere_or_moved_is_as_good(folder: Path, tmp_path: Path) -> None:
    build(folder, home=tmp_path / "elsewhere")
    assert not (folder / ".fieldmark-index").exists()
    hit = LocalIndex.open(tmp_path / "elsewhere").query(png(scene(2, SMALL)), 1)[0]
    assert LocalIndex.open(tmp_path / "elsewhere").picture(hit.image)
    build(folder)
    moved = Path(shutil.move(folder, tmp_path / "moved"))
    index = LocalIndex.open(moved)
    assert index.picture(index.query(png(scene(2, SMALL)), 1)[0].image)
    assert build(moved).described == 0


def test_a_search_goes_on_with_the_old_index_while_a_new_one_is_built(folder: Path) -> None:
    build(folder)
    old = LocalIndex.open(folder)
    shutil.rmtree(folder / "owl")
    (folder / "kite" / "9.png").write_bytes(png(scene(9, SMALL)))
    build(folder)
    assert [hit.entity for hit in old.query(png(scene(2, SMALL)), 5)] == ["kite"]
    assert old.query(png(scene(0, SMALL)), 5)[0].score < 0.5  # its picture is gone


def test_a_killed_build_is_not_an_index_and_the_next_one_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for seed in range(16):
        (folder / f"{seed}.png").write_bytes(png(scene(seed, (320, 240))))
    code = (
        "import sys; from pathlib import Path; from fieldmark.tools.image_index import building\n"
        "building.COMMIT_EVERY = 0.0\n"
        "if __name__ == '__main__':\n"
        "    building.build(Path(sys.argv[1]), progress=lambda done, _: print(done, flush=True))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    with subprocess.Popen([sys.executable, script, folder], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != "3":
            pass
        workers = children_of(process.pid)
        process.kill()
    with pytest.raises(UsageError, match="never finished: run `fieldmark index build` again"):
        LocalIndex.open(folder)
    built = build(folder)
    assert built.pictures == 16
    assert 0 < built.described <= 13
    assert LocalIndex.open(folder).query(png(scene(0, (320, 240))), 1)[0].entity == "0"
    assert gone(workers)


def test_an_unfinished_renewal_leaves_the_old_index_and_says_so(folder: Path) -> None:
    build(folder)
    (folder / "owl" / "3.png").write_bytes(png(scene(3, SMALL)))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(folder, progress=stop, processes=0)
    (folder / "kite" / "2.png").unlink()
    with pytest.raises(KeyboardInterrupt):
        build(folder, progress=stop, processes=0)
    index = LocalIndex.open(folder)
    assert not index.is_current
    assert index.query(png(scene(0, SMALL)), 1)[0].entity == "owl"
    build(folder)
    assert LocalIndex.open(folder).is_current


def test_two_builds_at_once_are_refused(folder: Path) -> None:
    def again(done: int, total: int) -> None:
        with pytest.raises(UsageError, match="another build is at work"):
            build(folder)

    assert build(folder, progress=again).pictures == 3


def test_a_process_that_dies_costs_no_picture(folder: Path) -> None:
    paths = [*sorted(folder.rglob("*.png"))] * 4
    described = describe_files(paths, 2)
    first = next(described)
    for worker in children_of(os.getpid()):
        os.kill(worker, signal.SIGKILL)
    rest = list(described)
    assert len([first, *rest]) == 12
    assert not [found for found in rest if isinstance(found, str)]


def children_of(parent: int) -> list[int]:
    """The worker processes of a process; not the tracker of multiprocessing."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rpartition(")")[2].split()
            command = (path / "cmdline").read_text()
        except OSError:
            continue
        if int(state[1]) == parent and "spawn_main" in command:
            found.append(int(path.name))
    return found


def gone(processes: list[int]) -> bool:
    """They end by themselves soon after their parent."""
    for _ in range(100):
        if not [number for number in processes if Path(f"/proc/{number}/cmdline").exists()]:
            return True
        time.sleep(0.1)
    return False
