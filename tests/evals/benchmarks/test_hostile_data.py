"""Data from a stranger: archives that blow up, and names that drive a terminal."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought import manifest, parquet, unpacking
from fieldmark.tools.aircraft import lines
from tests.conftest import Fieldmark
from tests.evals.benchmarks import fika_data
from tests.evals.benchmarks.test_fika import refusal

NAMES = [
    "--help.png",
    "-rf.png",
    "two\nlines.png",
    "\x1b]0;owned\x07\x1b[2J.png",
    "\u202egnp.exe.png",
    "$(touch owned).png",
    "`touch owned`;|&.png",
    "a" * 240 + ".png",
]


def test_a_zip_that_says_it_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", b"[]")
        archive.filelist[0].file_size = 10**12
    assert "1000.0 GB, over 20" in refusal(path)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(unpacking.MAX_FILES + 1):
            archive.writestr(str(number), b"")
    assert "files, over 50,000" in refusal(tmp_path / "many.zip")


def test_a_zip_that_lies_about_its_size_is_cut_there_and_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", bytes(300 * 2**20))
        archive.filelist[0].file_size = 1000
    assert "damaged" in refusal(path)
    kept = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in kept) < 10**6


def test_a_small_parquet_file_that_unpacks_to_gigabytes_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.setattr(parquet, "MAX_TEXT", 5 * 10**6)
    path = tmp_path / "bomb.parquet"
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT repeat('x', 1000) AS a FROM range(100000)) TO '{path}' (COMPRESSION zstd)"
        )
    assert path.stat().st_size < 10**6
    with pytest.raises(UsageError, match="unpacks to over 5 MB"):
        manifest.read_manifest(path)


def test_a_registry_that_unpacks_to_one_endless_line_is_left(tmp_path: Path) -> None:
    path = tmp_path / "registry.csv.gz"
    path.write_bytes(gzip.compress(bytes(64 * 2**20)))
    [part] = lines.parts(path)
    with pytest.raises(UsageError, match="it is no registry"):
        list(part.lines())


def test_no_file_name_drives_the_terminal_or_a_program(fieldmark: Fieldmark, tmp_path: Path) -> None:
    rows = []
    (tmp_path / "images").mkdir()
    for number, name in enumerate(NAMES):
        (tmp_path / "images" / name).write_bytes(b"no picture")
        rows.append(
            {**fika_data.plain(0, fika_data.ITEMS[0]), "id": f"{number}{name}", "image": f"images/{name}"}
        )
    path = fika_data.jsonl(tmp_path, rows)
    done = fieldmark("data", "check", "--data", path)
    said = done.stdout + done.stderr
    assert done.returncode in (1, 2)
    assert not set(said) & set("\x1b\x07\u202e")
    assert "Traceback" not in said
    assert "\\x1b]0;owned" in said
    assert not (tmp_path / "owned").exists()
