"use strict";
// A key for each choice; the zoom is that of the exam. All else works without.

const form = document.getElementById("mark");
addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const chosen = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (chosen) chosen.click();
  else if (event.key === "l") form.elements.label.select();
  else if (["+", "=", "-", "0"].includes(event.key) && event.target.id !== "viewer") {
    const factor = { "+": "2", "=": "2", "-": "0.5", "0": "0" }[event.key];
    document.querySelector(`[data-zoom="${factor}"]`).click();
  } else return;
  event.preventDefault();
});
// Enter in a field means what the label says: another one corrects. The first button of a form would keep.
for (const field of form?.querySelectorAll("label input") ?? []) {
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    const inherited = document.getElementById("inherited").textContent;
    const corrects = field.name === "label" || form.elements.label.value.trim() !== inherited;
    form.querySelector(`[data-key="${corrects ? "c" : "k"}"]`).click();
  });
}
