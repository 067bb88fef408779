"""The columns of Pix2Fact: the authors' CSV (`[Final]question`, …) and the parquet form of others."""

from __future__ import annotations

from fieldmark.evals.benchmarks.brought.mapping import Fields

FIELDS = Fields(
    usual={
        "id": "index itemid id",
        "image": "localimagepath image imagepath imgpath picture filename",
        "question": "finalquestion question",
        "answer": "finalanswer answer groundtruth",
        "aliases": "aliases answeraliases",
        "evidence": "evidenceurl evidenceurls",
        "top": "imagecategory scene category",
        "perception": "visualperceptiontype perceptiontype perception",
        "knowledge": "knowledgedomain externalknowledgedomain knowledge",
        "logic": "reasoninglogictype reasoningtype logictype logic",
        "regions": "boundingbox boundingboxes bbox bboxes regions",
    },
    required=("image", "question", "answer"),
    numbered=("evidence",),
)
