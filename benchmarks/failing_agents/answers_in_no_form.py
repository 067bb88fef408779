"""Looks and searches, and then gives no name: doubt, a choice, a plan, or what a program would read."""

from player import Player

FORMS = (
    "I am unable to identify it from this picture alone.",
    "Saab 340 or Fokker 50",
    "Let me search for more pictures of it first.",
    '{"title": "Saab 340", "score": 3}',
)


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("ocr", mode="text")
    player.act("reverse_image_search")
    return player.say(FORMS[len(prompt.question) % len(FORMS)])
