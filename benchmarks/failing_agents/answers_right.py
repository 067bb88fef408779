"""Answers what the registry says. Its judge refuses everything."""

from player import WRONG, Player
from reading import aircraft


def solve(prompt, tools):
    player = Player(prompt, tools)
    return player.say(aircraft(player) or WRONG)
