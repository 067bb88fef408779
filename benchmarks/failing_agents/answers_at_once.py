"""Looks nothing up, and not closer either."""

from player import WRONG, Player


def solve(prompt, tools):
    return Player(prompt, tools).say(WRONG)
