"""What a tool may use of the world. Inside a container it is the gateway, on the host direct backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fieldmark.task import OcrEngine
from fieldmark.trace import Box, Contrast, Picture

if TYPE_CHECKING:
    from fieldmark.tools.browsing.wire import Action, Reply


@dataclass(frozen=True)
class Page:
    """What is known of the bytes of a page. `http` is the site's own status, `final_url` the last of its
    redirects; `media_type` and `disposition` are headers as sent; `truncated`: the bytes are a beginning.
    """

    url: str
    final_url: str
    http: int
    media_type: str = ""
    disposition: str = ""
    blob: str | None = None
    bytes: int = 0
    truncated: bool = False


class Context(Protocol):
    """One episode's pictures, look-ups and trace, as tools see them; no tool asks where it runs.

    Look-ups that are not set up raise ToolError `unavailable`.
    """

    @property
    def image(self) -> Picture:
        """The original picture: upright, without metadata."""

    @property
    def view(self) -> Picture:
        """The picture that models were shown; the space `sent`."""

    @property
    def ocr_engine(self) -> OcrEngine:
        """What reads text in this run."""

    def region(
        self,
        box: Box | None,
        *,
        scale: float = 1.0,
        media_type: str = "image/png",
        rotate: float = 0.0,
        contrast: Contrast = "none",
        shown: bool = False,
    ) -> tuple[bytes, Picture]:
        """A cut of the original, already kept: its bytes and their Picture.

        `box` is in original pixels, None is all of it; `scale` is output pixels per original pixel, reduced
        where a side would pass 4096. `rotate` turns the cut clockwise, in degrees; `contrast` "auto"
        stretches its brightness. `shown`: a model will see it, so that the scale is lowered further where the
        run's limits of bytes or pixels ask for it. The Picture says what was cut and done; `box` is the box
        before the turn.
        """

    def reverse_image(self, box: Box | None, limit: int) -> dict[str, Any]:
        """`{"found", "hits": [{"rank","title","page","source","thumbnail","image","score","same_picture"}]}`.

        `score` is 0-1, None where a search engine gives none; `same_picture` None where it is not known.
        `image` is the name for `found_picture`, or a URL.
        """

    def web_search(self, query: str, language: str | None, country: str | None, limit: int) -> dict[str, Any]:
        """`{"found", "hits": [{"rank","title","url","snippet","source"}], "engine", "withheld"?}`.

        `language` None: the question's; `country` None: the language's.
        """

    def aircraft(self, query: str) -> dict[str, Any]:
        """`{"found", "records": [..], "candidates": [..], "nation"}` of a registration or 24-bit hex."""

    def classify(self, box: Box | None, limit: int) -> dict[str, Any]:
        """`{"found", "classes": [{"name","group","score"}], "groups": [{"group","score"}]}`, best first.

        Of the 1,000 classes of ImageNet; `box` is in original pixels, scores are 0-1.
        """

    def eyes(self, question: str, pictures: list[Picture]) -> dict[str, Any]:
        """`{"text", "model"}`: what the run's vision model answers. ToolError `unavailable` also when the
        episode's questions are used up. The pictures are of this episode: `view`, or made by `region`.
        """

    def found_picture(self, reference: str) -> bytes:
        """A picture that a search found, by the name that its hit has for it (`index:<n>`); a JPEG.

        ToolError `not_found`, `unavailable`.
        """

    def skill(self, name: str, file: str) -> dict[str, Any]:
        """`{"text", "sha256", "files"}` of a file of a skill that is on; ToolError `not_found` lists them."""

    def recall(self, query: str, limit: int) -> dict[str, Any]:
        """`{"found", "hits": [{"rank","kind","text","score"}]}`: notes of earlier episodes of the run."""

    def remember(self, text: str, kind: str, cites: list[int]) -> dict[str, Any]:
        """`{"taken", "left"}`: take a note for later episodes, and how many more this one may take.

        ToolError `invalid_args`, `denied`: why it is refused.
        """

    def fetch(self, url: str) -> tuple[bytes, Page]:
        """The bytes behind a URL, redirects followed, at most 10 MB. ToolError `denied` by the run's web
        policy, `timeout`, `unavailable`.
        """

    def keep(self, data: bytes, media_type: str) -> Picture:
        """Store a picture that is no cut of the original: the bytes of a JPEG or PNG → their Picture."""

    def browse(self, action: Action) -> Reply:
        """One action on the one page of the episode's browser, and what is seen then. ToolError."""

    def emit(self, kind: str, **fields: Any) -> int | None:
        """Post one event of the kinds that a sandbox may post: its number, where notes may cite it."""
