"use strict";
// Keys, a box and its step lit together, and pages of a running run that follow it. All else works without.

const go = (rel) => document.querySelector(`a[rel="${rel}"]`)?.click();
const KEYS = {
  j: () => go("next"), n: () => go("next"), k: () => go("prev"), p: () => go("prev"),
  o: () => document.getElementById("overlay")?.click(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (typing || event.ctrlKey || event.altKey || event.metaKey) return;
  KEYS[event.key]?.();
});

// On the document, so that it also holds of a page that has followed its run.
for (const kind of ["mouseover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const anchors = event.target.closest(".step")?.querySelectorAll(".anchor") ?? [];
    const seqs = new Set([...anchors].map((anchor) => anchor.id.slice(1)));
    for (const box of document.querySelectorAll(".mark rect")) {
      box.parentNode.classList.toggle("near", seqs.has(box.dataset.seq));
    }
  });
}

// A link to an event that is in another part of a long timeline: a server is never told of what is behind #.
const linked = location.hash.match(/^#e(\d+)$/);
if (linked && document.querySelector(".steps") && !document.getElementById(linked[0].slice(1))) {
  const query = new URLSearchParams(location.search);
  if (query.get("at") !== linked[1]) {
    query.delete("step");
    query.set("at", linked[1]);
    location.replace(`${location.pathname}?${query}${location.hash}`);
  }
}

const FOLLOW = 4000; // milliseconds
async function follow() {
  const main = document.querySelector("main[data-live]");
  if (!main) return;
  const busy = document.hidden || main.contains(document.activeElement);
  if (!busy) {
    try {
      const reply = await fetch(location.href);
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const fresh = page.querySelector("main");
      if (reply.ok && fresh && fresh.innerHTML !== main.innerHTML) {
        main.replaceWith(fresh);
        document.title = page.title;
        document.getElementById("told").textContent = fresh.dataset.live ?? "It has ended.";
      }
    } catch { /* the server has ended: the page stays as it was */ }
  }
  setTimeout(follow, FOLLOW);
}
setTimeout(follow, FOLLOW);
