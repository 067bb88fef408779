"""Whether this machine can run episodes: engine, image, Tesseract, disk, memory and cores."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fieldmark.errors import UsageError
from fieldmark.needs import Needs
from fieldmark.sandbox import engine, image

Mark = Literal["PASS", "WARN", "FAIL"]
LANGUAGES = ("eng", "chi_sim")
"""What the bundled benchmark has to read."""
RUN_BYTES = 2e9
"""Free disk of the run folder's place below which a run may not get far."""


@dataclass(frozen=True)
class Check:
    """One line. `remedy` is what to do about a WARN or a FAIL."""

    name: str
    mark: Mark
    said: str
    remedy: str = ""


def check_machine(folder: Path) -> Iterator[Check]:
    """Every check, one after another; `folder` is where run folders would lie."""
    yield from _engine()
    yield _tesseract()
    yield _disk(folder)
    yield _parallel()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def memory() -> tuple[float, float]:
    """Bytes of this machine: all, and what new programs can have without swapping (the kernel's estimate)."""
    rows = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines() if ":" in line)
    return float(rows["MemTotal"].split()[0]) * 1024, float(rows["MemAvailable"].split()[0]) * 1024


def _engine() -> Iterator[Check]:
    try:
        client = engine.connect()
    except UsageError as error:
        what, _, remedy = str(error).partition(": ")
        yield Check("Docker engine", "FAIL", what, remedy)
        return
    yield Check("Docker engine", "PASS", f"version {client.version()['Version']}")
    state = image.state(client)
    if state == "ready":
        yield Check("sandbox image", "PASS", image.tag())
    else:
        yield Check("sandbox image", "FAIL", f"it is {state}", "fieldmark sandbox build")
    client.close()


def _tesseract() -> Check:
    """Episodes read with the image's own; the host's is for `fieldmark tool` and `fieldmark mcp`."""
    import pytesseract

    name, hosts_only = "Tesseract", "runs have their own in the image; `fieldmark tool ocr` here has none"
    try:
        version, have = pytesseract.get_tesseract_version(), set(pytesseract.get_languages())
    except (pytesseract.TesseractNotFoundError, RuntimeError, SystemExit):
        return Check(name, "WARN", f"not installed: {hosts_only}", "apt-get install tesseract-ocr")
    packages = " ".join(f"tesseract-ocr-{lang.replace('_', '-')}" for lang in LANGUAGES if lang not in have)
    if packages:
        return Check(name, "WARN", f"{version}, has {', '.join(sorted(have))}", f"apt-get install {packages}")
    return Check(name, "PASS", f"{version}, {', '.join(sorted(have - {'osd'}))}")


def _disk(folder: Path) -> Check:
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    said = f"{free / 1e9:.1f} GB free in {place.absolute()}"
    if free < RUN_BYTES:
        return Check("disk", "WARN", said, f"make room: a run of 300 episodes wants {RUN_BYTES / 1e9:.0f} GB")
    return Check("disk", "PASS", said)


def _parallel() -> Check:
    name, (total, available), needs = "memory and cores", memory(), Needs()
    has = f"{available / 2**30:.1f} of {total / 2**30:.1f} GB available, {cores()} cores"
    said = f"{has}: --parallel {needs.fit(cores(), total)}"
    if available < needs.memory_mb * 2**20:
        return Check(name, "WARN", said, f"an episode may use {needs.memory_mb} MB: free some")
    return Check(name, "PASS", said)
