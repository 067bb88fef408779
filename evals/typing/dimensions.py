"""The three dimensions by which Pix2Fact types its questions (appendix B.3), in our own words."""

from __future__ import annotations

VERSION = "1"
"""Changes with any name, value or meaning."""

DIMENSIONS: dict[str, dict[str, str]] = {
    "perception type": {
        "OCR": "text has to be read: letters, numbers, words",
        "Object Counting": "things of a kind have to be counted",
        "Entity Recognition": "something has to be recognised: a logo, a character, a product, a place",
        "Spatial Relationship": "it has to be found by where it is: left of, above, in the third row",
    },
    "knowledge domain": {
        "Finance & Economics": "prices of shares, revenues, GDP, exchange rates, market data",
        "Geography & General Facts": "capitals, headquarters, population, area, basic facts",
        "Product & Corporate Info": "specifications, the history and contacts of a firm, how it works",
        "Culture, Entertainment & History": "films, music, art, persons of history, awards, events",
        "Dynamic & Current Events": "what changes with time: weather, news, official rankings, advice",
    },
    "logic type": {
        "Direct Lookup": "what is seen is itself what is looked up",
        "Parametric Query": "a value that is seen, often a number, goes into the look-up as a parameter",
        "Calculation-based Query": "what is seen has to be calculated with before anything is looked up",
        "Chained/Indirect Query": "what one look-up brings is needed to make another, different one",
    },
}
"""Facet → value → what it means. Facets and values are named as the loader of Pix2Fact names them."""
