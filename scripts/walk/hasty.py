"""Hasty: zooms, reads the registration, looks it up, and takes any Boeing for an Airbus all the same.

So a run of aircraft has right answers, one for which the evidence was there, and one for which it was not.
"""

import re

from player import Player
from reading import aircraft

GUESS = "Airbus A340-600"
AROUND = 40
"""Pixels of the original on each side of what is cut out."""


def solve(prompt, tools):
    player = Player(prompt, tools)
    seen = player.act("ocr", mode="registration")
    place = re.search(r"at \[([\d.]+),([\d.]+),([\d.]+),([\d.]+)\]", seen)
    if place is None:
        player.act("crop_zoom", x1=0, y1=0, x2=prompt.width / 2, y2=prompt.height / 2)
        return player.say(GUESS)
    x1, y1, x2, y2 = map(float, place.groups())
    player.act("crop_zoom", x1=x1 - AROUND, y1=y1 - AROUND, x2=x2 + AROUND, y2=y2 + AROUND)
    found = aircraft(player)
    return player.say(found if found.startswith("Airbus") else GUESS)
