"""Looks, and breaks over its own code."""

from player import Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    found = player.act("ocr", mode="text")
    return player.say(found.splitlines()[10_000])
