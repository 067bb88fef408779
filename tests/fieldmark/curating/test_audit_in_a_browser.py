"""An audit in real Chromium, by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fieldmark.curating.audit.app import make_app
from fieldmark.curating.audit.desk import Desk
from fieldmark.evals.curation.audit.agreement import audit_agreement
from fieldmark.evals.curation.project import Project
from fieldmark.evals.inspector.security import Door
from tests.evals.inspector.browser import visit

ANN = """
page = browser.new_page(viewport={"width": 1280, "height": 900})
errors = []
page.on("pageerror", lambda error: errors.append(str(error)))
page.goto(base)
page.locator("#picture").evaluate("image => image.decode()")
page.keyboard.press("+")
found["zoomed"] = page.locator("#picture").evaluate("image => image.style.transform")
found["alike"] = page.locator(".alike figcaption").all_inner_texts()
shot(page, "audit-1280")
found["beside"] = page.evaluate(
    "() => document.querySelector('.alike').getBoundingClientRect().left > "
    "document.querySelector('#viewer').getBoundingClientRect().right"
)
for number in range(3):
    label = page.inner_text("#inherited")
    if label == "Dahlia":
        page.keyboard.press("l")
        page.keyboard.type("Dahlia 'Kelvin Floodlight'")
        page.keyboard.press("Tab")  # to the other spellings, where Enter corrects too
        page.keyboard.type("Kelvin Floodlight")
        page.keyboard.press("Enter")
    elif label == "Summer Palace":
        page.keyboard.press("d")
    else:
        page.keyboard.press("k")
    begun = "count => document.getElementById('done').textContent.startsWith(count)"
    page.wait_for_function(begun, arg=str(number + 1))
page.set_viewport_size({"width": 390, "height": 844})
found["end"] = page.inner_text("h1")
page.goto(base + "/item/" + NAME)
found["wide"] = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
shot(page, "audit-390")
found["errors"] = errors
"""


def test_a_person_audits_by_keys(project: Project, tmp_path: Path, engine: Any, sandbox_image: str) -> None:
    names = {each.label: each.id for each in project.candidates("screen.hard")}
    for name in names.values():
        project.decide("leakage", name, "keep", "clean")
    app = make_app(Desk(project, "ann"), Door(frozenset({"127.0.0.1"}), None))
    script = ANN.replace("NAME", repr(names["Dahlia"]))
    found = visit(engine, sandbox_image, app, tmp_path / "browser", script)
    assert found["errors"] == []
    assert "scale(2)" in found["zoomed"]
    assert len(found["alike"]) == 2
    assert found["beside"]
    assert not found["wide"]
    assert found["end"] == "All is marked"
    marks = {label: project.history(name, "audit")[0] for label, name in names.items()}
    assert {label: (row.who, row.evidence["choice"]) for label, row in marks.items()} == {
        "Dahlia": ("ann", "correct"), "Summer Palace": ("ann", "drop"), "Tibetan Spaniel": ("ann", "keep"),
    }  # fmt: skip
    assert marks["Dahlia"].evidence["label"] == "Dahlia 'Kelvin Floodlight'"
    assert marks["Dahlia"].evidence["aliases"] == ["Kelvin Floodlight"]
    assert audit_agreement(project).marked == {"ann": 3}
