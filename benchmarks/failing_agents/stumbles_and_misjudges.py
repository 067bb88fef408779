"""Three calls fail, the fourth brings the right name, and it takes another."""

from player import WRONG, Player
from reading import last_hit


def solve(prompt, tools):
    player = Player(prompt, tools)
    player.act("image", prompt="What is it?")
    player.act("open_page", url="https://encyclopedia.example/no-such-page.html")
    player.act("crop_zoom", x1="left", y1=0, x2=20, y2=20)
    return player.say(last_hit(player) or WRONG)
