"""Chooses the first option that the question lists, whatever is in the picture."""


def solve(prompt, tools):
    listed = [line[2:] for line in prompt.question.splitlines() if line.startswith("- ")]
    name = listed[0] if listed else "unknown"
    return f"<think>The first one will do.</think><answer>{name}</answer>"
