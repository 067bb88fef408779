"""What passes between a tool and the browser's process: one JSON line there, one back."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Verb = Literal["open", "click", "type", "scroll", "back", "screenshot", "find"]
Direction = Literal["down", "up", "top", "bottom"]

WIDTH, HEIGHT = 1280, 800
"""Pixels of the view and of its pictures."""


class Action(TypedDict, total=False):
    """What is asked for. `element` is a number of an earlier result or a visible text; `screens` are views,
    `seconds` is the time limit of the action itself; looking at the page afterwards takes up to 16 s more.
    """

    action: Verb
    url: str
    element: str
    text: str
    submit: bool
    direction: Direction
    screens: float
    seconds: float


class Element(TypedDict, total=False):
    """A link, button or field. `options` are the first of a menu's `options_total`."""

    number: int
    kind: str
    name: str
    href: str
    value: str
    checked: bool
    disabled: bool
    options: list[str]
    options_total: int


class Look(TypedDict, total=False):
    """The visible text from the top of the view down: `shown` characters of `total`, `above` lie before it.

    `y` and `height` are px of the page; `cut`: it was too large to be read to its end.
    """

    text: str
    shown: int
    total: int
    above: int
    elements: list[Element]
    elements_total: int
    y: int
    height: int
    cut: bool


class Found(TypedDict):
    """Places of words: how many, in how many characters, and what stands around the first of them."""

    hits: int
    total: int
    places: list[str]


class Download(TypedDict):
    """A file instead of a page, not kept. `disposition` is the header as sent; `bytes` None: not said."""

    url: str
    disposition: str
    media_type: str
    bytes: int | None


class Reply(TypedDict, total=False):
    """What came of an action. Notes are ours; everything else but numbers was written by the page.

    `dialogs` are `alert: text`; `picture` is base64 of a JPEG of WIDTH x HEIGHT px.
    """

    url: str
    title: str
    http: int | None
    media_type: str
    notes: list[str]
    dialogs: list[str]
    download: Download
    look: Look
    found: Found
    picture: str


class Fault(TypedDict):
    """Instead of a Reply: a ToolError. `message` holds nothing that a page says."""

    kind: str
    message: str


Answer = dict[str, Any]
"""`{"reply": Reply}` or `{"fault": Fault}`."""
