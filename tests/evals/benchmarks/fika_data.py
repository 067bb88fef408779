"""Made-up data in the shapes that FIKA-Bench could have: drawn pictures and invented items."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

ITEMS: list[dict[str, Any]] = [
    {
        "id": "p-001", "question": "这是什么机型？", "answer": "Zorvex Kestrel 9",
        "aliases": ["Kestrel IX", "佐维克斯九型"],
        "split": "public", "top": ("交通", "Transport"), "mid": ("飞机", "Aircraft"), "language": "zh",
        "evidence": ["https://planes.example/kestrel-9"],
    },
    {
        "id": "p-002", "question": "Which plant is this?", "answer": "Quillhaven moonfern", "aliases": [],
        "split": "public", "top": ("自然", "Nature"), "mid": ("植物", "Plant"), "language": "en",
        "evidence": ["https://plants.example/moonfern", "https://flora.example/q?id=7"],
    },
    {
        "id": "r-001", "question": "Which device is this?", "answer": "Obrin T-40 shaver",
        "aliases": ["Obrin T40"],
        "split": "real-life", "top": ("产品", "Product"), "mid": ("电器", "Appliance"), "language": "en",
        "evidence": ["https://obrin.example/t-40"],
    },
    {
        "id": "r-002", "question": "这座建筑叫什么？", "answer": "云栖钟楼", "aliases": ["Yunqi Bell Tower"],
        "split": "real-life", "top": ("文化", "Culture"), "mid": ("建筑", "Building"), "language": "zh",
        "evidence": ["https://towers.example/yunqi"],
    },
]  # fmt: skip
COLOURS = ("navy", "darkgreen", "silver", "maroon")


def pictures(folder: Path) -> None:
    """`images/0.png` … one colour each."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number, colour in enumerate(COLOURS):
        Image.new("RGB", (320 + number, 240), colour).save(folder / "images" / f"{number}.png")


def plain(number: int, item: dict[str, Any]) -> dict[str, Any]:
    """Flat English keys, `中文 / English` in one cell."""
    top, mid = (" / ".join(item[name]) for name in ("top", "mid"))
    return {**item, "image": f"images/{number}.png", "category": top, "mid": mid, "top": top}


def nested(number: int, item: dict[str, Any]) -> dict[str, Any]:
    """Objects in objects, both languages apart, split told by the list that an item is in."""
    return {
        "sample_id": item["id"],
        "image": {"path": f"images/{number}.png"},
        "question": item["question"],
        "gold": {"answer": item["answer"], "aliases": item["aliases"]},
        "category": {
            "top": dict(zip(("zh", "en"), item["top"], strict=True)),
            "mid": f"{item['mid'][1]}（{item['mid'][0]}）",
        },
        "evidence": [{"url": url, "note": "seen"} for url in item["evidence"]],
    }


def columns(number: int, item: dict[str, Any]) -> dict[str, str]:
    """A table: two columns for a label, lists in a cell."""
    (top_zh, top_en), (mid_zh, mid_en) = item["top"], item["mid"]
    return {
        "Image Path": f"{number}.png", "ID": item["id"], "Question": item["question"],
        "Reference Answer": item["answer"], "Accepted Aliases": " | ".join(item["aliases"]),
        "Subset": item["split"].replace("-", "_"), "category_zh": top_zh, "category_en": top_en,
        "subcategory_zh": mid_zh, "subcategory_en": mid_en, "Evidence URLs": " ; ".join(item["evidence"]),
    }  # fmt: skip


def odd(number: int, item: dict[str, Any]) -> dict[str, Any]:
    """Keys that nobody could tell."""
    return {"nr": item["id"], "pic": f"images/{number}.png", "ask": item["question"], "truth": item["answer"]}


def jsonl(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    """A folder with a `manifest.jsonl` and its pictures; the manifest's path."""
    pictures(folder)
    rows = [plain(n, item) for n, item in enumerate(ITEMS)] if rows is None else rows
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def by_split(folder: Path) -> Path:
    """A `manifest.json` that holds a list for each split."""
    pictures(folder)
    lists: dict[str, list[dict[str, Any]]] = {"public": [], "real_life": []}
    for number, item in enumerate(ITEMS):
        lists[item["split"].replace("-", "_")].append(nested(number, item))
    path = folder / "manifest.json"
    path.write_text(json.dumps({"version": "1.0", **lists}, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def table(folder: Path) -> Path:
    """A CSV with a BOM, as Excel writes it."""
    pictures(folder)
    path = folder / "items.csv"
    rows = [columns(n, item) for n, item in enumerate(ITEMS)]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def parquet(folder: Path) -> Path:
    """A parquet file with lists in it, by DuckDB, whose name reads like a pattern."""
    import duckdb

    rows, path = jsonl(folder), folder / "items [v1].parquet"
    with duckdb.connect() as database:
        database.execute(f"COPY (FROM read_json('{rows}')) TO '{path}' (FORMAT parquet)")
    rows.unlink()
    return path


def archive(folder: Path, tmp: Path) -> Path:
    """`fika-bench-testset.zip` as the data card has it: all in `data/`, a .sha256 file beside it."""
    jsonl(tmp / "data")
    (tmp / "data" / "README.md").write_text("made up\n")
    path = folder / "fika-bench-testset.zip"
    with zipfile.ZipFile(path, "w") as file:
        for each in sorted((tmp / "data").rglob("*")):
            file.write(each, each.relative_to(tmp))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".sha256").write_text(f"{digest}  {path.name}\n")
    return path
