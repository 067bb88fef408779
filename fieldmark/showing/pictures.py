"""Pictures on a terminal that draws Sixel or Kitty's graphics, by `textual-image` (extra `terminal`).

The library asks the terminal what it can, and waits a tenth of a second for the answer. What comes later
would be read by the shell, as typed: so we ask before and after whether anybody is there; answers come in
order.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console

from fieldmark.run_reader import RunReader
from fieldmark.trace import Picture

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual_image.renderable import SixelImage, TGPImage

ROWS = 14
"""Lines of the terminal that a picture takes at most."""
_PATIENCE = 1.0
"""Seconds after which a terminal that was asked has no answer."""
_THERE, _YES = b"\x1b[5n", b"\x1b[0n"
"""Is there a terminal, and its answer (DSR, of every terminal since the VT100)."""
Draw = Callable[[Picture], None]


def drawing(console: Console, folder: RunReader) -> Draw | None:
    """What draws a picture of the run, each once; None where this terminal cannot, or there is none."""
    if not console.is_terminal or not _may_be_asked():
        return None
    image = _kind(console)
    if image is None:
        return None
    blobs, drawn = folder.blob_store(), set[str]()

    def draw(picture: Picture) -> None:
        if picture.blob in drawn:
            return
        drawn.add(picture.blob)
        with contextlib.suppress(KeyError, OSError):  # not in this copy of the run: its line says so
            _draw(image, blobs.get(picture.blob), console)

    return draw


def _may_be_asked() -> bool:
    """A terminal on both sides, in the foreground, with a size, and nothing typed that would get lost."""
    if os.environ.get("TERM", "dumb") == "dumb" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    fd = sys.stdin.fileno()
    try:
        ours = os.tcgetpgrp(fd) == os.getpgrp()
        return ours and 0 not in os.get_terminal_size(sys.stdout.fileno()) and not _readable(fd, 0)
    except OSError:  # it is nobody's terminal
        return False


def _kind(console: Console) -> type[SixelImage] | type[TGPImage] | None:
    """How this terminal draws."""
    with _silent():
        if not _answered():
            return None
        logging.getLogger("textual_image").setLevel(logging.CRITICAL)
        try:
            from textual_image.renderable import Image, SixelImage, TGPImage
        except ImportError:  # the extra is not installed
            return None
        if not issubclass(Image, SixelImage | TGPImage):
            _answered()
            return None
        Image(_dot()).__rich_measure__(console, console.options)  # asks for the size of a letter, once
        _answered()
        return Image


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """What the terminal answers is read at once, and not echoed."""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


def _answered() -> bool:
    """Whether the terminal says that it is there. What it was asked before is answered by then, and gone."""
    fd, end, read = sys.stdin.fileno(), time.monotonic() + _PATIENCE, b""
    os.write(sys.stdout.fileno(), _THERE)
    while not read.endswith(_YES):
        if not _readable(fd, max(0, end - time.monotonic())):
            return False
        read += os.read(fd, 1)
    return True


def _readable(fd: int, seconds: float) -> bool:
    return bool(select.select([fd], [], [], seconds)[0])


def _dot() -> Image:
    from PIL import Image

    return Image.new("RGB", (1, 1))


def _draw(image: type[SixelImage] | type[TGPImage], data: bytes, console: Console) -> None:
    """As large as `ROWS` and the terminal allow; nothing where it is no picture, or too large a one."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.draft("RGB", (1600, 1600))  # of a JPEG, no more than is drawn
            shown = image(opened.convert("RGB"), width="auto", height="auto")
    except (OSError, ValueError, Image.DecompressionBombError):
        return
    # Kitty's placeholders name the picture by their colour: all of it, whatever else is coloured
    exact = Console(file=console.file, force_terminal=True, color_system="truecolor", width=console.width)
    exact.no_color = False
    exact.print(shown, height=ROWS)
