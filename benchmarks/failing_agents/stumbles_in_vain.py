"""Some calls fail, some work, and none of them brings the right name."""

from player import WRONG, Player


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("open_page", url="https://encyclopedia.example/no-such-page.html")
    player.act("ocr", mode="text")
    player.act("google_lens", url="picture.jpg")
    player.act("web_search", query="tide tables")
    return player.say(WRONG)
