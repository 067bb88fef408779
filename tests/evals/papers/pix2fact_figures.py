"""What Pix2Fact's tables 2 and 3 print (arXiv 2602.00593), and the counts that follow; none of its data.

The paper gives percentages and how many questions each category has: a count is the only one of that many
that rounds to the percentage. Of five cells no count does, if it is rounded once: 2/52 is 3.8 (printed 3.9,
three times), 10/290 is 3.4 (printed 3.5) and 3/113 is 2.7 (printed 2.6). `ROUNDED_TWICE` has the counts with
which the cells add up to the overall figure, and which round so when they are rounded to two decimals first.
"""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.benchmarks.pix2fact.names import KNOWLEDGE, LOGIC, PERCEPTION, SCENES

TABLE_2 = {
    "Qwen3-VL-Instruct": "0.3 4.1 0.0 0.0 0.0 0.0 0.0 0.0 0.5",
    "Gemini-3-Pro": "12.5 20.4 15.0 9.6 14.4 14.9 11.4 12.7 9.5",
    "Gemini-2.5-Pro": "8.1 12.2 8.8 3.9 5.2 10.4 11.0 7.3 5.4",
    "GPT-5": "5.6 12.2 3.5 1.9 7.8 6.0 6.9 1.8 3.6",
    "GPT-4o": "2.8 4.1 0.9 1.9 3.3 3.0 3.5 3.6 2.3",
    "Claude 4.5 opus": "4.0 8.2 4.4 3.9 3.9 4.5 4.1 0.0 3.6",
    "Doubao-Seed-1.6": "2.4 6.1 1.8 5.8 1.3 3.0 2.8 1.8 2.3",
    "Doubao-Seed-1.8": "2.5 6.1 3.5 1.9 1.3 6.0 2.1 1.8 1.8",
    "Grok-4.1": "1.9 2.0 0.9 0.0 3.3 1.5 1.4 1.8 2.7",
    "Gemini-3-Pro, web search": "27.0 34.7 28.3 25.0 26.8 34.3 27.9 27.3 21.7",
    "Gemini-2.5-Pro, web search": "16.0 26.5 19.5 7.7 13.1 17.9 14.1 10.9 19.0",
    "GPT-5, web search": "11.5 16.3 15.0 3.9 14.4 6.0 14.1 9.1 7.2",
    "Doubao-Seed-1.8, web search": "13.0 18.4 8.8 7.7 12.4 13.4 16.6 10.9 11.3",
    "Grok-4.1, web search": "1.9 4.1 2.6 0.0 0.0 4.5 2.4 0.0 1.8",
}
"""System → overall, then the scenes in their order."""
TABLE_3 = {
    "Qwen3-VL-Instruct": "0.3 1.25 0.0 0.0 0.76 0.62 0.0 0.79 0.35 0.0 0.79 0.58 0.0 0.0",
    "Gemini-3-Pro": "12.5 26.25 11.08 4.91 19.85 16.15 11.82 17.46 11.79 11.7 5.51 13.33 13.99 13.51",
    "Gemini-2.5-Pro": "8.1 17.5 8.16 2.46 13.74 8.7 4.93 5.56 9.88 7.45 3.94 8.12 7.69 9.61",
    "GPT-5": "5.6 6.25 6.12 1.05 10.69 8.07 4.93 7.14 4.85 9.57 3.15 6.09 6.29 5.71",
    "GPT-4o": "2.8 2.5 3.79 0.0 3.82 4.97 1.48 4.76 2.43 5.32 2.36 3.19 1.4 3.12",
    "Claude 4.5 opus": "4.0 10.0 2.62 2.81 6.11 4.35 5.42 3.97 3.47 4.26 2.36 4.93 4.9 3.38",
    "Doubao-Seed-1.6": "2.4 5.0 1.17 0.7 5.34 4.35 2.96 1.59 2.08 4.26 1.57 2.9 2.8 2.08",
    "Doubao-Seed-1.8": "2.5 10.0 1.17 1.05 4.58 2.48 0.99 3.17 3.12 1.06 0.79 3.48 2.1 2.34",
    "Grok-4.1": "1.9 1.25 1.75 1.05 2.29 3.73 0.49 2.38 1.73 5.32 0.79 2.32 2.1 1.82",
    "Gemini-3-Pro, web search": "27.0 41.25 27.41 22.81 26.72 26.71 33.99 23.81 26.0 22.34 21.26 31.59 31.47"
    " 23.12",
    "Gemini-2.5-Pro, web search": "16.0 22.5 13.7 11.93 19.08 22.36 18.72 8.73 17.16 11.7 13.39 14.49 23.78"
    " 15.06",
    "GPT-5, web search": "11.6 21.25 13.12 6.67 12.98 11.18 15.27 14.29 9.88 10.64 6.3 14.2 16.78 9.09",
    "Doubao-Seed-1.8, web search": "13.0 15.0 13.7 11.93 16.03 9.94 12.32 13.49 13.52 10.64 18.9 11.88 6.29"
    " 14.55",
    "Grok-4.1, web search": "1.9 5.0 1.75 0.7 2.29 2.48 1.97 1.59 1.73 3.19 2.36 1.74 2.8 1.56",
}
"""System → overall, then knowledge domains, perception types and logic types in their order."""
ROUNDED_TWICE = {("3.9", 52): 2, ("3.5", 290): 10, ("2.6", 113): 3}
SHORT_OF_SCENES = {"Doubao-Seed-1.6": (26, 24)}
"""System → correct by its scenes, and overall: these do not add up."""
OTHER_TOTALS = {"GPT-5, web search": (115, 116), "Gemini-2.5-Pro, web search": (159, 160)}
"""System → two totals that different parts of the two tables have."""
SIZES_2 = tuple(SCENES.values())
SIZES_3 = (*KNOWLEDGE.values(), *PERCEPTION.values(), *LOGIC.values())


def cells(line: str, sizes: Sequence[int]) -> list[tuple[str, int, int]]:
    """(as printed, correct, n) of each category of a line."""
    return [(shown, correct(shown, n), n) for shown, n in zip(line.split()[1:], sizes, strict=True)]


def correct(shown: str, n: int) -> int:
    """The only count of `n` that rounds to a percentage as it is printed."""
    half = 0.5 * 10.0 ** -len(shown.partition(".")[2]) + 1e-9
    found = [count for count in range(n + 1) if abs(100 * count / n - float(shown)) <= half]
    if not found:
        return ROUNDED_TWICE[shown, n]
    (only,) = found
    return only
