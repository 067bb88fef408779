"""Calls tools that nobody offered, as a model does that knows others, and guesses."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("image", prompt="What is it?")
    player.act("google_lens", url="picture.jpg")
    return player.say(WRONG)
