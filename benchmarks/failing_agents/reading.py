"""What the scripts read in results: a registration, the name of an aircraft, the title of the last hit."""

import re

from player import Player


def aircraft(player: Player) -> str:
    """The model of the aircraft by its registration, such as "Boeing 747-406"; "" where none was read."""
    mark = re.search(r"registration (\S+)", player.act("ocr", mode="registration"))
    if mark is None:
        return ""
    record = re.search(r"^- \S+: ([^,]+),", player.act("aircraft_registry", registration=mark[1]), re.M)
    return record[1] if record else ""


def last_hit(player: Player) -> str:
    """The title of the last of five pictures that look alike."""
    found = re.findall(r"^\d+\. (.+?)(?: \(|, https?://|: score)", player.act("reverse_image_search"), re.M)
    return found[-1] if found else ""


def named(question: str, answers: dict[str, str]) -> str | None:
    """The answer of the first key that the question holds."""
    return next((answer for word, answer in answers.items() if word in question), None)
