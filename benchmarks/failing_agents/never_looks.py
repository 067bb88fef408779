"""Shows its model no picture, and searches for the words of the question."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools, sees=False)
    player.act("web_search", query=prompt.question)
    return player.say(WRONG)
