"""A judge that holds every answer for wrong."""


def judge(question, gold, answer):
    return "incorrect", "refused"
