"""Made-up data in the two shapes of Pix2Fact: invented questions over small drawn pictures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

SIZE = (1600, 1200)
ITEMS: list[dict[str, Any]] = [
    {
        "item_id": "7", "question": "Who runs the kiosk left of the gate?", "answer": "Orla Venn",
        "image_category": "Markets & Vendors", "visual_perception_type": "OCR",
        "knowledge_domain": "Product & Corporate Info", "reasoning_logic_type": "Direct Lookup",
        "bounding_box": [1200, 900, 1300, 960],
        "evidence": ["https://kiosks.example/orla", "https://gates.example/7"],
    },
    {
        "item_id": "8", "question": "Which year has the X-th tower, X being the cranes?", "answer": "1931",
        "image_category": "city skylines", "visual_perception_type": "object_counting",
        "knowledge_domain": "Culture, Entertainment and History", "reasoning_logic_type": "Parametric Query",
        "bounding_box": [[10, 20, 110, 220], [1500, 20, 1590, 220]],
        "evidence": ["https://towers.example/1931"],
    },
]  # fmt: skip


def picture(number: int) -> bytes:
    """A JPEG of one colour."""
    buffer = io.BytesIO()
    Image.new("RGB", SIZE, ("navy", "maroon")[number % 2]).save(buffer, "JPEG")
    return buffer.getvalue()


def table(folder: Path, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """`Pix2Fact_1k.csv` with its bracketed columns, as Excel writes it, beside `images/`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number in range(len(ITEMS)):
        (folder / "images" / f"{number}.jpg").write_bytes(picture(number))
    official = [
        {
            "index": item["item_id"], "local_image_path": f"images/{number}.jpg",
            "[Final]question": item["question"], "[Final]answer": item["answer"],
        }
        for number, item in enumerate(ITEMS)
    ]  # fmt: skip
    written = official if rows is None else rows
    path = folder / "Pix2Fact_1k.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(written[0]))
        writer.writeheader()
        writer.writerows(written)
    return path


def parquet(folder: Path, *, struct: bool = True, items: Sequence[Mapping[str, Any]] = ITEMS) -> Path:
    """The parquet form: pictures inside, as bytes or as `{bytes, path}`, evidence in numbered columns."""
    import duckdb

    path = folder / "pix2fact.parquet"
    image = "{'bytes': $1::BLOB, 'path': 'secret.jpg'}" if struct else "$1::BLOB"
    kind = "STRUCT(bytes BLOB, path VARCHAR)" if struct else "BLOB"
    names = [
        *("item_id", "image_category", "visual_perception_type", "knowledge_domain", "reasoning_logic_type"),
        *("question", "answer", "bounding_box", "evidence_url_1", "evidence_url_2"),
    ]
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t (image {kind}, {', '.join(f'{name} VARCHAR' for name in names)})")
        for number, item in enumerate(items):
            links = [*item["evidence"], None][:2]
            told = [item[name] for name in names[:7]]
            values = [picture(number), *told, json.dumps(item["bounding_box"]), *links]
            marks = ", ".join(f"${place}" for place in range(2, len(values) + 1))
            database.execute(f"INSERT INTO t VALUES ({image}, {marks})", values)
        database.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    return path
