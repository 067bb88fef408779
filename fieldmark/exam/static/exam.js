"use strict";
// Zoom and pan, the clock, and drafts that are kept while they are typed. All else works without.

const sheet = document.getElementById("sheet");
const viewer = document.getElementById("viewer");
if (sheet) { keepDrafts(); tellTime(); }
if (viewer) zoom(viewer, document.getElementById("picture"));

function keepDrafts() {
  const kept = document.getElementById("kept");
  let waiting = 0;
  const send = async () => {
    waiting = 0;
    try {
      const reply = await fetch("/draft", { method: "POST", body: new URLSearchParams(new FormData(sheet)), keepalive: true });
      kept.textContent = reply.ok ? "Your draft is kept." : "This question is over: open the page anew.";
    } catch { kept.textContent = "The exam's program does not answer: start it again, this page goes on."; }
  };
  const later = () => { waiting ||= setTimeout(send, 800); };
  sheet.addEventListener("input", later);
  if ([...sheet.elements].some((field) => field.value !== (field.defaultValue ?? field.value))) later();  // typed before this ran
  sheet.addEventListener("submit", () => { clearTimeout(waiting); waiting = 0; });
  addEventListener("pagehide", () => { if (waiting) send(); });
}

function tellTime() {
  const clock = document.getElementById("clock");
  const end = performance.now() + 1000 * clock.dataset.left;
  const timer = setInterval(tick, 250);
  function tick() {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
    clock.classList.toggle("soon", left <= 30);
    if (left) return;
    clearInterval(timer);
    if (sheet.elements.answer.value.trim()) sheet.requestSubmit(sheet.querySelector(".main"));
    else setTimeout(() => location.assign("/"), 4500);
  }
  tick();
}

function zoom(box, picture) {
  let scale = 1, x = 0, y = 0;
  const held = new Map();
  let dragged = false;
  document.getElementById("zooming").hidden = false;
  const most = Math.max(4, 2 * picture.width / box.clientWidth, 2 * picture.getAttribute("width") / box.clientWidth);

  function show() {
    x = Math.min(0, Math.max(x, box.clientWidth * (1 - scale)));
    y = Math.min(0, Math.max(y, box.clientHeight * (1 - scale)));
    picture.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    box.classList.toggle("near", scale > 1);
  }
  function about(factor, px = box.clientWidth / 2, py = box.clientHeight / 2) {
    const next = factor ? Math.min(most, Math.max(1, scale * factor)) : 1;
    x = px - (px - x) * next / scale;
    y = py - (py - y) * next / scale;
    scale = next;
    show();
  }
  const at = (event) => { const edge = box.getBoundingClientRect(); return [event.clientX - edge.left, event.clientY - edge.top]; };

  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => about(Number(button.dataset.zoom)));
  }
  box.addEventListener("wheel", (event) => { event.preventDefault(); about(Math.exp(-event.deltaY / 400), ...at(event)); }, { passive: false });
  box.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key === "+" || event.key === "=") about(1.5);
    else if (event.key === "-") about(1 / 1.5);
    else if (event.key === "0") about(0);
    else if (moves[event.key] && scale > 1) { x += moves[event.key][0]; y += moves[event.key][1]; show(); }
    else return;
    event.preventDefault();
  });
  box.addEventListener("pointerdown", (event) => { held.set(event.pointerId, [event.clientX, event.clientY]); dragged = false; });
  addEventListener("pointermove", (event) => {
    const was = held.get(event.pointerId);
    if (!was) return;
    const now = [event.clientX, event.clientY];
    const other = [...held.entries()].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      about(far(now, other) / far(was, other), ...at({ clientX: (now[0] + other[0]) / 2, clientY: (now[1] + other[1]) / 2 }));
    } else if (scale > 1) { x += now[0] - was[0]; y += now[1] - was[1]; show(); }
    if (far2(was, now)) dragged = true;
    held.set(event.pointerId, now);
  });
  const far2 = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) > 2;
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => held.delete(event.pointerId));
  // A click opens the picture by itself only while all of it is shown and nothing was dragged.
  box.addEventListener("click", (event) => { if (dragged || scale > 1) event.preventDefault(); });
}
