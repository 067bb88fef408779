"""Answers that say nothing but that no answer is known: a closed list of phrases for each language.

The whole answer must be one of them, after folding (`evals/judges/normalise.py`), without quotation marks,
end punctuation and openings such as "The answer is" (`evals/judges/phrases.py`). "Unknown warbler" or "cannot
determine the variant, Boeing 737" name something, and are answers.
"""

from __future__ import annotations

from fieldmark.evals.judges.normalise import fold, words
from fieldmark.evals.judges.phrases import unquote, unwrap

PHRASES: dict[str, tuple[str, ...]] = {
    "en": (
        "unknown", "not known", "unidentified", "unidentifiable", "undetermined", "indeterminate", "unclear",
        "uncertain", "unsure", "not sure", "I'm not sure", "I am not sure", "unable to determine",
        "unable to identify", "unable to tell", "cannot determine", "cannot be determined", "can't determine",
        "could not determine", "could not be determined", "cannot identify", "cannot be identified",
        "can't identify", "could not identify", "could not be identified", "cannot tell", "can't tell",
        "cannot say", "not identifiable", "not determinable", "impossible to tell", "impossible to determine",
        "impossible to say", "insufficient information", "not enough information", "insufficient evidence",
        "I don't know", "I do not know", "don't know", "do not know", "I cannot determine",
        "I can't determine", "I cannot tell", "I can't tell", "I cannot identify", "I can't identify",
        "I am unable to determine", "I'm unable to determine", "I am unable to identify",
        "I'm unable to identify", "no answer", "no definitive answer", "no idea", "none", "null", "n/a",
        "not applicable", "not available",
    ),
    "zh": (
        "未知", "不知道", "我不知道", "不清楚", "不确定", "我不确定", "不详", "无", "无法确定", "无法判断",
        "无法识别", "无法辨认", "无法辨别", "无法得知", "无法回答", "无法确认", "我无法确定", "我无法判断",
        "我无法识别", "不能确定", "不能判断", "不能识别", "难以确定", "难以判断", "难以辨认", "信息不足",
        "暂无", "没有答案", "不明",
        "不能確定", "無法確定", "無法判斷", "無法識別", "無法辨認", "不確定", "不詳",
    ),
}  # fmt: skip


def abstains(answer: str | None) -> bool:
    """Whether an answer is one of the phrases. None and a blank one are no answer, which is not the same."""
    plain = unwrap(unquote(fold(answer or "")))
    return words(plain) in _KNOWN


_KNOWN = frozenset(words(phrase) for phrases in PHRASES.values() for phrase in phrases)
