"""Looks, opens pages that are not there, and guesses."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("crop_zoom", x1=0, y1=0, x2=200, y2=150)
    player.act("open_page", url="https://encyclopedia.example/no-such-page.html")
    player.act("open_page", url="https://en.wikipedia.org/wiki/Main_Page")
    return player.say(WRONG)
