"""Gives up where a call fails."""

from player import Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("ocr", mode="text")
    found = player.act("open_page", url="https://encyclopedia.example/no-such-page.html")
    if found.startswith("Error"):
        raise RuntimeError(found)
    return player.say(found[:50])
