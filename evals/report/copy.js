"use strict";
// Two buttons on every table: what is shown of it, as CSV or as LaTeX, goes to the clipboard. Nothing else.
const shown = (element) => element.getClientRects().length > 0;
const words = (cell) => cell.innerText.trim().replace(/\s+/g, " ");
const number = /^[+\u2212-]?\d+(\.\d+)?$/;
// What a spreadsheet would run as a formula, or turn into a number, a date or a truth value.
const changed = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\d.,:/eE+%\s-]*\d[\d.,:/eE+%\s-]*$|^(true|false)$/i;
const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\u2013": "--", "\u2265": "$\\geq$", "\u03ba": "$\\kappa$" };

function lines(table) {
  return [...table.rows].filter(shown).map((row) => [...row.cells].map((cell) => ({ text: words(cell), left: cell.classList.contains("text") })));
}

function csv(table) {
  const field = ({ text, left }) => {
    const safe = (left || !number.test(text)) && changed.test(text) ? `'${text}` : text;
    return `"${safe.replaceAll('"', '""')}"`;
  };
  return lines(table).map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

function latex(table) {
  const escaped = (text) => text.replace(/[\\~^\u2013\u2265\u03ba]/g, (sign) => special[sign] ?? sign).replace(/[&%#_]/g, "\\$&").replace(/\$(?!\\)(?!$)/g, "\\$");
  const [head, ...body] = lines(table);
  const line = (row) => `  ${row.map(({ text }) => escaped(text)).join(" & ")} \\\\`;
  const columns = head.map(({ left }) => (left ? "l" : "r")).join("");
  return ["% \\usepackage{booktabs}", "\\begin{table}", "\\centering", `\\caption{${escaped(table.caption.innerText.trim())}}`, `\\begin{tabular}{${columns}}`,
    "\\toprule", line(head), "\\midrule", ...body.map(line), "\\bottomrule", "\\end{tabular}", "\\end{table}", ""].join("\n");
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("refused");
}

for (const table of document.querySelectorAll(".block table")) {
  const header = table.closest(".block").querySelector("header");
  const said = document.createElement("span");
  said.className = "note";
  said.setAttribute("role", "status");
  for (const [name, write] of [["CSV", csv], ["LaTeX", latex]]) {
    const button = header.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = `copy as ${name}`;
    button.addEventListener("click", () => copy(write(table)).then(() => (said.textContent = "copied"), () => (said.textContent = "the browser refused")));
  }
  header.append(said);
}
