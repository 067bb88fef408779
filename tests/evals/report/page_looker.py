"""Runs in a sandbox's container: opens /page/report.html in Chromium and prints what is seen, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ADDRESS = "https://report.test/"
WIDER = """() => [...document.querySelectorAll("body *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll"))
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))"""
CUT = """() => [...document.querySelectorAll("td, th, p, h2, h3, h4, .tile, .card")]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != "inline")
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))"""
FAINT = """() => {
    const parts = c => c.match(/[0-9.]+/g).map(Number);
    const light = c => { const [r, g, b] = parts(c).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (parts(c).length == 3 || parts(c)[3] == 1) return c; } };
    const faint = new Set();
    for (const e of document.querySelectorAll("body, body *")) {
        const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
        if (!own) continue;
        const style = getComputedStyle(e);
        const [a, b] = [light(e.tagName == "text" ? style.fill : style.color), light(behind(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint.add(e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 40));
    }
    return [...faint]; }"""
COVERED = """() => [...document.querySelectorAll("svg")].flatMap(svg => {
    const boxes = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
    const edge = svg.getBoundingClientRect();
    return boxes.flatMap(([name, one], i) => [
        ...(one.left < edge.left - 1 || one.right > edge.right + 1 ? [name + " is cut"] : []),
        ...boxes.slice(i + 1).filter(([, two]) => one.left < two.right - 1 && two.left < one.right - 1
            && one.top < two.bottom - 3 && two.top < one.bottom - 3).map(([two]) => name + " over " + two)]);
})"""
ROWS = "[...document.querySelectorAll('#r0-episodes tbody tr')].filter(r => r.getClientRects().length).length"
OUTSIDE = (
    "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth + 1)"
)
CHARTS = "[...document.querySelectorAll('svg')].filter(s => s.querySelectorAll('text').length > 2).length"


class Looker:
    """Serves the page at an address of its own, and keeps what it asked for and what went wrong."""

    def __init__(self, browser: Browser, body: str) -> None:
        self.browser, self.body = browser, body
        self.asked: list[str] = []
        self.errors: list[str] = []

    def open(self, **options: Any) -> tuple[BrowserContext, Page]:
        context = self.browser.new_context(**options)
        context.route("**", lambda route: route.fulfill(body=self.body, content_type="text/html"))
        page = context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(ADDRESS)
        return context, page

    def look(self, width: int, scheme: Any) -> dict[str, Any]:
        """What is too wide, cut, too faint or over another thing."""
        context, page = self.open(viewport={"width": width, "height": 900}, color_scheme=scheme)
        seen = {
            "page": page.evaluate("document.documentElement.scrollWidth"),
            "tables": page.evaluate("document.querySelectorAll('.scroll > table').length"),
            "bare": page.evaluate("document.querySelectorAll(':not(.scroll) > table').length"),
            **{
                name: page.evaluate(test)
                for name, test in (("wider", WIDER), ("cut", CUT), ("faint", FAINT), ("covered", COVERED))
            },
        }
        context.close()
        return seen

    def act(self) -> dict[str, Any]:
        """Copies a table, follows a link, and prints."""
        context, page = self.open(viewport={"width": 1280, "height": 900}, color_scheme="dark")
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=ADDRESS)
        copied = {name: self._copied(page, name) for name in ("CSV", "LaTeX")}
        before = page.evaluate(ROWS)
        page.locator("article#r0 .card a").first.click()
        told, after = page.locator(".pick:target").inner_text(), page.evaluate(ROWS)
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 1032, "height": 700})
        seen = {
            "copied": copied, "before": before, "told": told, "after": after,
            "printed": {
                "outside": page.evaluate(f"{OUTSIDE}.length"),
                "rows": page.evaluate(ROWS),
                "ink": page.evaluate("getComputedStyle(document.body).color"),
            },
            "buttons": page.locator("button").count(),
            "tables": page.locator("table").count(),
            "pictures": page.evaluate("[...document.images].filter(i => i.naturalWidth == 96).length"),
            "charts": page.evaluate(CHARTS),
            "run by strangers": page.evaluate("window.__xss ?? null"),
        }  # fmt: skip
        context.close()
        return seen

    def buttons_without_script(self) -> int:
        context, page = self.open(java_script_enabled=False)
        count = page.locator("button").count()
        context.close()
        return count

    def _copied(self, page: Page, name: str) -> str:
        page.locator("#r0-episodes button", has_text=name).click()
        page.locator("#r0-episodes [role=status]", has_text="copied").wait_for()
        return str(page.evaluate("navigator.clipboard.readText()"))


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        looker = Looker(browser, Path("/page/report.html").read_text(encoding="utf-8"))
        seen = {
            f"{width} {scheme}": looker.look(width, scheme)
            for width in (390, 1280)
            for scheme in ("light", "dark")
        }
        acts = looker.act() | {"buttons without script": looker.buttons_without_script()}
        told = {"seen": seen, "acts": acts, "asked": sorted(set(looker.asked)), "errors": looker.errors}
        print(json.dumps(told))


if __name__ == "__main__":
    main()
