"""FIKA-Bench does not publish its field names: those that are taken for its fields."""

from __future__ import annotations

from fieldmark.evals.benchmarks.brought.mapping import Fields

FIELDS = Fields(
    usual={
        "id": "id itemid sampleid exampleid taskid questionid qid uid uuid",
        "image": "image imagepath imagefile imagefilename imagename img imgpath picture photo"
        " filename filepath",
        "question": "question questiontext query prompt",
        "answer": "answer goldanswer referenceanswer reference groundtruth groundtruthanswer gold gt"
        " correctanswer canonicalanswer standardanswer expectedanswer finalanswer answertext answers",
        "aliases": "aliases alias acceptedaliases answeraliases acceptedanswers acceptableanswers"
        " alternativeanswers alternatives synonyms",
        "finer": "finer",
        "broader": "broader",
        "match": "match",
        "evidence": "evidence evidenceurls evidenceurl evidencelinks evidencelink evidences urls url links"
        " sourceurls sourceurl",
        "split": "split subset partition datasplit",
        "top": "topcategory toplevelcategory toplevel top category1 categorylevel1 level1 l1 l1category"
        " categoryl1 categorytop maincategory primarycategory coarsecategory category",
        "mid": "midcategory midlevelcategory midlevel mid category2 categorylevel2 level2 l2 l2category"
        " categoryl2 categorymid subcategory secondarycategory",
        "source": "source sourcedataset dataset origin",
        "language": "language lang locale questionlanguage",
    },
    required=("id", "image", "question", "answer"),
    two_languages=("top", "mid", "split"),
)
