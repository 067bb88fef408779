"""Reads the text of a corner, where the one that was asked for is not."""

from player import Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    corner = {"x1": prompt.width - 60, "y1": prompt.height - 60, "x2": prompt.width, "y2": prompt.height}
    player.act("ocr", mode="text", **corner)
    return player.say("NO ENTRY")
