"""Looks, and looks things up that have nothing to do with the picture."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("ocr", mode="text")
    player.act("reverse_image_search")
    player.act("web_search", query="tide tables")
    return player.say(WRONG)
