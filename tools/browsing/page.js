// What a reader sees of one document, and which element a number or a text means. Runs in the page.
// Called as page([verb, asked]); the verbs are at the end. Numbers of elements live in the document itself,
// so they hold as long as it does and name the same element at every look.
([verb, asked]) => {
  const NUMBERS = Symbol.for("fieldmark.numbers");
  const INTERACTIVE =
    "a[href], area[href], button, input:not([type=hidden]), select, textarea, summary, [onclick], " +
    "[contenteditable=''], [contenteditable=true], [role=button], [role=link], [role=tab], [role=checkbox], " +
    "[role=radio], [role=switch], [role=menuitem], [role=option], [role=combobox], [role=searchbox], [role=textbox]";
  const SKIPPED = new Set(["script", "style", "template", "noscript", "head", "iframe", "object", "select", "textarea"]);
  const MILLISECONDS = 5000;
  const started = performance.now();
  const inTime = () => performance.now() - started < MILLISECONDS;
  const plain = (text) => (text || "").replace(/\s+/g, " ").trim();

  // --- the visible parts, in the order of the document -------------------------------------------------

  function edgeOf(display) {
    if (display === "inline" || display === "contents") return "";
    return display === "table-cell" ? "|" : display.startsWith("inline-") ? " " : "\n";
  }

  function children(node) {
    if (node.localName === "details" && !node.open) return [...node.children].filter((one) => one.localName === "summary").slice(0, 1);
    const assigned = node.localName === "slot" ? node.assignedNodes() : [];
    return assigned.length ? assigned : (node.shadowRoot || node).childNodes;
  }

  // Yields [element, null], [null, text node] and [null, null, break]: "\n" at the edges of blocks, "|" at
  // those of table cells, " " at those of buttons and the like. No recursion: a page may nest as deep as it likes.
  function* parts() {
    const stack = [document.body || document.documentElement];
    while (stack.length && inTime()) {
      const node = stack.pop();
      if (typeof node === "string") yield [null, null, node];
      else if (node.nodeType === Node.TEXT_NODE) yield [null, node];
      else if (node.nodeType === Node.ELEMENT_NODE && node.tagName.toLowerCase() === "br") yield [null, null, "\n"];
      else if (node.nodeType === Node.ELEMENT_NODE || node.nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
        const display = node.nodeType === Node.ELEMENT_NODE ? getComputedStyle(node).display : "contents";
        if (display === "none") continue;
        if (node.nodeType === Node.ELEMENT_NODE) yield [node, null];
        if (SKIPPED.has(node.localName)) continue;
        const edge = edgeOf(display);
        if (edge) yield [null, null, edge];
        if (edge) stack.push(edge);
        const inside = children(node);
        for (let i = inside.length - 1; i >= 0; i--) stack.push(inside[i]);
      }
    }
  }

  // How an element shows what is in it: not at all, as it is written, or with its blanks run together.
  const looks = new Map();
  function lookOf(element) {
    if (!looks.has(element)) {
      const style = getComputedStyle(element);
      const seen = style.visibility === "visible" && (style.display === "contents" ||
        element.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
      looks.set(element, { seen, written: style.whiteSpace.startsWith("pre") });
    }
    return looks.get(element);
  }

  // A box that takes no room, or lies where no scrolling leads, is not seen.
  const onPage = (box) => (box.width > 1 || box.height > 1) && box.width > 0 && box.height > 0 &&
    box.right + scrollX > 0 && box.bottom + scrollY > 0;

  // Where an element ends, in px of the view; null when it is not seen.
  function bottomOf(element) {
    const box = element.getBoundingClientRect();
    return onPage(box) && lookOf(element).seen ? box.bottom : null;
  }

  // {pieces: [{text, bottom}] of all visible text, "\n" between blocks; interactive: [{element, bottom}]}
  function read() {
    const pieces = [], interactive = [], range = document.createRange();
    const add = (text, bottom) => pieces.push({ text, bottom });
    const last = () => pieces[pieces.length - 1];
    const space = (text = " ") => fresh || last().text.endsWith(" ") || add(text, last().bottom);
    let fresh = true;

    function addElement(element) {
      const alt = element.localName === "img" && plain(element.alt), active = element.matches(INTERACTIVE);
      const bottom = alt || active ? bottomOf(element) : null;
      if (bottom === null) return;
      if (active) interactive.push({ element, bottom });
      if (alt) {
        add(`${fresh ? "" : " "}[image: ${alt.slice(0, 200)}]`, bottom);
        fresh = false;
      }
    }

    function addText(node) {
      const parent = node.parentElement || node.getRootNode().host;
      const shown = parent ? lookOf(parent) : { seen: true, written: false };
      if (!shown.seen) return;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (!onPage(box)) return;
      const text = shown.written ? node.data.trimEnd() : node.data.replace(/\s+/g, " ");
      add(fresh ? text.replace(/^ +/, "") : text, box.bottom);
      fresh = false;
    }

    function addEdge(edge) {
      if (edge !== "\n") return space(edge === "|" ? " | " : " ");
      while (!fresh && pieces.length && /^[ |]+$/.test(last().text)) pieces.pop();
      if (!fresh && pieces.length) add("\n", last().bottom);
      fresh = true;
    }

    for (const [element, node, edge] of parts()) {
      if (element) addElement(element);
      else if (edge) addEdge(edge);
      else if (/\S/.test(node.data)) addText(node);
      else space();
    }
    return { pieces, interactive };
  }

  // --- one element in words ----------------------------------------------------------------------------

  function kind(element) {
    const role = element.getAttribute("role"), tag = element.localName, type = element.type;
    if (tag === "input" && (type === "checkbox" || type === "radio")) return type;
    if (tag === "input" && ["submit", "button", "reset", "image", "file", "color"].includes(type))
      return type === "file" ? "file field" : "button";
    if (tag === "input" || tag === "textarea" || element.isContentEditable) return "field";
    if (tag === "select") return "menu";
    if (tag === "a" || tag === "area") return "link";
    return role || "button";
  }

  function name(element) {
    const label = element.labels && element.labels[0];
    const by = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
      .map((id) => document.getElementById(id)).filter(Boolean).map((other) => other.textContent).join(" ");
    const picture = element.querySelector && element.querySelector("img[alt]");
    const own = ["select", "textarea", "input"].includes(element.localName) ? "" : element.innerText;
    const button = element.localName === "input" && kind(element) === "button" ? element.value : "";
    return [element.getAttribute("aria-label"), by, label && label.innerText, own, button, element.alt,
      picture && picture.alt, element.placeholder, element.title, element.name].map(plain).find(Boolean) || "";
  }

  function address(element) {
    if (!element.href || typeof element.href !== "string") return undefined;
    const own = location.origin + "/";
    return (element.href.startsWith(own) ? element.href.slice(own.length - 1) : element.href).slice(0, 100);
  }

  function described(number, element) {
    const what = kind(element), row = { number, kind: what, name: name(element).slice(0, 80) };
    const href = address(element);
    if (href) row.href = href;
    if (what === "menu") {
      row.value = plain(element.selectedOptions[0] && element.selectedOptions[0].text).slice(0, 80);
      row.options = [...element.options].slice(0, 12).map((option) => plain(option.text).slice(0, 40));
      row.options_total = element.options.length;
    } else if (what === "field") {
      const value = element.type === "password" ? "" : element.value ?? element.innerText;
      if (plain(value)) row.value = plain(value).slice(0, 80);
    } else if (typeof element.checked === "boolean") row.checked = element.checked;
    if (element.disabled) row.disabled = true;
    return row;
  }

  function numbered(elements) {
    const known = (document[NUMBERS] ??= { of: new WeakMap(), elements: new Map() });
    let next = asked.next;
    const rows = elements.map(({ element }) => {
      if (!known.of.has(element)) {
        known.of.set(element, next);
        known.elements.set(next++, new WeakRef(element));
      }
      return described(known.of.get(element), element);
    });
    return { rows, next };
  }

  // --- the verbs ---------------------------------------------------------------------------------------

  // asked: {top (px, what lies above is left out), chars, elements, next}
  function look() {
    const { pieces: all, interactive: here } = read();
    const below = all.filter((piece) => piece.bottom > asked.top);
    const length = (list) => list.reduce((sum, piece) => sum + piece.text.length, 0);
    const listed = here.filter((one) => one.bottom > asked.top).slice(0, asked.elements);
    const { rows, next } = numbered(listed);
    const text = below.map((piece) => piece.text).join("");
    return {
      text: text.slice(0, asked.chars),
      shown: Math.min(text.length, asked.chars),
      total: length(all),
      above: length(all) - text.length,
      elements: rows,
      elements_total: here.length,
      next,
      y: Math.round(scrollY),
      height: Math.round((document.scrollingElement || document.documentElement).scrollHeight),
      cut: !inTime(),
    };
  }

  // asked: {words, hits, around}: where the words stand, in any case; the first place is scrolled to.
  function find() {
    const all = read().pieces, text = all.map((piece) => piece.text).join("");
    const words = asked.words.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const places = [...text.matchAll(new RegExp(words.join("\\s+"), "gi"))].map((match) => match.index);
    const shown = [];
    for (const place of places) if (!shown.length || place > shown[shown.length - 1] + asked.around) shown.push(place);
    if (places.length) {
      let end = 0;
      const piece = all.find((one) => (end += one.text.length) > places[0]);
      scrollTo({ top: Math.max(0, scrollY + piece.bottom - innerHeight / 3), behavior: "instant" });
    }
    const around = (place) => plain(text.slice(Math.max(0, place - asked.around), place + asked.around));
    return { hits: places.length, total: text.length, places: shown.slice(0, asked.hits).map(around) };
  }

  // asked: {number} → the element, or null when it is not (or no longer) in this document.
  function element() {
    const known = document[NUMBERS], reference = known && known.elements.get(asked.number);
    const found = reference && reference.deref();
    return found && found.isConnected ? found : null;
  }

  // asked: {text, exact} → the first visible element that says so, an interactive one before all others.
  function named() {
    const wanted = plain(asked.text).toLowerCase();
    const says = (text) => asked.exact ? plain(text).toLowerCase() === wanted : plain(text).toLowerCase().includes(wanted);
    const one = read().interactive.find((row) => says(row.element.textContent) || says(name(row.element)));
    if (one) return one.element;
    for (const [, node] of parts())
      if (node && says(node.data) && node.parentElement && lookOf(node.parentElement).seen) return node.parentElement;
    return null;
  }

  return { look, find, element, named }[verb]();
}
