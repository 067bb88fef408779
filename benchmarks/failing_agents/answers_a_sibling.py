"""Looks and searches, and answers what stands beside the right one."""

from player import WRONG, Player
from reading import aircraft, named

VARIANTS = {"737": "Boeing 737-700", "747": "Boeing 747-8", "777": "Boeing 777-200", "787": "Boeing 787-9"}
SIBLINGS = {
    "animal": "drill",
    "coffee": "cappuccino",
    "flower": "cosmos",
    "fruit": "fig",
    "instrument": "ashiko",
    "motorcycle": "Honda CM400",
    "painting": "Café Terrace at Night",
    "rocket": "Atlas V",
}


def solve(prompt, tools):
    player = Player(prompt, tools)
    if "aircraft" in prompt.question:
        return player.say(named(aircraft(player), VARIANTS) or WRONG)
    player.act("ocr", mode="text")
    player.act("reverse_image_search")
    return player.say(named(prompt.question, SIBLINGS) or WRONG)
