"""Sends one request again and again, until its budget ends."""

from player import Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("ocr", mode="text")
    while True:
        player.ask_the_same()
