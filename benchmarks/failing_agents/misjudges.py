"""Has the right name in its results, and takes another."""

from player import WRONG, Player
from reading import aircraft, last_hit


def solve(prompt, tools):
    player = Player(prompt, tools)
    if "aircraft" in prompt.question:
        aircraft(player)
        return player.say("Concorde")
    return player.say(last_hit(player) or WRONG)
