"""Looks at a corner alone, where the thing that was asked for is not, and guesses."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    corner = {"x1": prompt.width - 60, "y1": prompt.height - 60, "x2": prompt.width, "y2": prompt.height}
    player.act("crop_zoom", **corner)
    return player.say(WRONG)
