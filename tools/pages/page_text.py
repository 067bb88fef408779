"""What came from a URL → text: HTML, PDF, plain text; anything else is a download and is only named."""

from __future__ import annotations

import io
import re
import time
from dataclasses import dataclass

from fieldmark.counting import counted
from fieldmark.errors import ToolError
from fieldmark.tools.context import Page
from fieldmark.tools.pages.decoding import decode
from fieldmark.tools.pages.html_text import read_html

PDF_PAGES = 200
PDF_SECONDS = 20.0
"""Pages and time after which the rest of a PDF is left out."""
_TEXT = re.compile(r"text/|application/(.*[+.-])?(json|xml|yaml|javascript)$")
_PICTURES_AND_ARCHIVES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"PK\3\4", b"\x1f\x8b")
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class PageText:
    """`text` is what is read page by page; `whole` (where it differs) also what lies around it.

    `note` is ours, one sentence without a full stop; `readable` is false for a download.
    """

    text: str
    title: str = ""
    whole: str | None = None
    note: str = ""
    readable: bool = True


def read_page(data: bytes, page: Page) -> PageText:
    """The text of a page. ToolError when it is of a kind that has text, but cannot be read."""
    kind = page.media_type.partition(";")[0].strip().lower()
    if not data:
        return PageText("", note=f"the page is empty (HTTP {page.http})")
    if data.startswith(b"%PDF-") or (kind == "application/pdf" and not _HTML.match(data[:2048])):
        return _pdf(data)
    if data.startswith(_PICTURES_AND_ARCHIVES):  # whatever the site calls it
        return _download(data, kind)
    if kind in ("text/html", "application/xhtml+xml") or (_vague(kind) and _HTML.match(data[:2048])):
        found = read_html(decode(data, page.media_type), page.final_url)
        if found.main is None:
            return PageText(found.whole, found.title, note="" if found.whole else "the page holds no text")
        return PageText(found.main, found.title, found.whole, "the main text; `find` searches the whole page")
    if _TEXT.match(kind) or (_vague(kind) and _looks_like_text(data)):
        return PageText(decode(data, page.media_type).replace("\r\n", "\n"))
    return _download(data, kind)


def _download(data: bytes, kind: str) -> PageText:
    note = f"a download, not a page ({kind or 'unknown type'}, {counted(len(data), 'byte')})"
    return PageText("", note=note, readable=False)


def _vague(kind: str) -> bool:
    return kind in (
        "",
        "application/pdf",
        "text/plain",
        "application/octet-stream",
        "application/unknown",
        "binary/octet-stream",
    )


def _looks_like_text(data: bytes) -> bool:
    head = data[:2048]
    return b"\0" not in head and sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) == 0


def _pdf(data: bytes) -> PageText:
    import pypdf

    deadline = time.monotonic() + PDF_SECONDS
    texts: list[str] = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ToolError("the PDF is locked by a password", "unavailable")
        count = len(reader.pages)
        title = str((reader.metadata and reader.metadata.title) or "")[:300]
        for number in range(min(count, PDF_PAGES)):
            if time.monotonic() > deadline:
                break
            texts.append(_pdf_page(reader, number))
    except ToolError:
        raise
    except Exception as error:  # damaged files break pypdf in many ways
        if not texts:
            raise ToolError(f"the PDF cannot be read: {type(error).__name__}", "runtime") from None
        count, title = len(texts), ""
    text = "\n\n".join(f"[PDF page {number}]\n{text}" for number, text in enumerate(texts, 1) if text)
    if not text:
        return PageText("", title, note=f"a PDF of {counted(count, 'page')} without any text (pictures only)")
    left = f", the first {len(texts)} read" if len(texts) < count else ""
    return PageText(text, title, note=f"a PDF of {counted(count, 'page')}{left}")


def _pdf_page(reader: object, number: int) -> str:
    try:
        return str(reader.pages[number].extract_text()).strip()  # type: ignore[attr-defined]
    except Exception:  # one damaged page leaves the others readable
        return ""
