"""The pages of a release that people read: a datasheet, and Figure 5 as a plot."""

from __future__ import annotations

from typing import Any

from fieldmark.evals.curation.settings import Release


def datasheet(release: Release, told: dict[str, Any]) -> str:
    """Markdown: what it is, how it was made, what is in it, under which licence."""
    funnel = [
        [row["step"], row["reached"], row["keep"], row["drop"], row["open"], row["classes"]]
        for row in told["funnel"]
    ]
    screens = [[row["screen"], row["model"], row["pictures"]] for row in told["screened_by"]]
    categories = [[row["top"], row["mid"], row["items"]] for row in told["by_category"]]
    return "\n".join(
        [
            f"# {release.name} {release.version}",
            "",
            f"Licence of the collection: {release.licence}. Each picture has its own: the field `licence` of"
            " `manifest.jsonl`, and `attribution.tsv`.",
            "",
            f"{told['items']} items with {told['answers']} answers and {told['aliases']} aliases;"
            f" {told['evidence_links']} evidence links on {told['evidence_domains']} domains;"
            f" {told['corrected_labels']} labels were corrected.",
            "",
            "## How it was made",
            "",
            "Each step got what the one before it kept; what was left open was not taken.",
            "",
            *_table(["step", "reached", "kept", "dropped", "open", "classes kept"], funnel),
            "",
            "The screens asked these models. One that is shown no pictures says nothing of what is hard to"
            " see.",
            "",
            *_table(["screen", "model", "pictures"], screens),
            "",
            "`statistics.json` has the settings of every step.",
            "",
            "## What is in it",
            "",
            "![items by category](categories.svg)",
            "",
            *_table(["top", "mid", "items"], categories),
            "",
            *_table(["language", "items"], [[*pair] for pair in told["by_language"].items()]),
            "",
            *_table(["source", "items"], [[*pair] for pair in told["by_source"].items()]),
            "",
            *_table(["evidence", "links"], [[*pair] for pair in told["by_domain"].items()]),
            "",
            "## What it must not be used for",
            "",
            "Answers, evidence and this archive are not for a tested model: not for training, retrieval or"
            " memory, nor within reach of a tool.",
            "",
        ]
    )


def categories_svg(told: dict[str, Any]) -> str:
    """Figure 5: items of each category, a bar each, coloured by its top category."""
    import vl_convert  # V8 and all: 1 s, for a release alone

    values = [{**row, "name": f"{row['mid']} ({row['top']})"} for row in told["by_category"]]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "data": {"values": values},
        "height": {"step": 22},
        "width": 420,
        "mark": "bar",
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 0}},
            "x": {"field": "items", "type": "quantitative", "title": "items", "axis": {"tickMinStep": 1}},
            "color": {"field": "top", "type": "nominal", "legend": None},
        },
    }
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _table(header: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines]
