"""Shows its model the picture once, goes on without it, and searches for the words of the question."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("web_search", query="tide tables")
    player.forget_the_picture()
    player.act("web_search", query="lighthouse opening hours")
    return player.say(WRONG)
