"""What a sentence of evidence does not assert: marks of notes are no words, a question says nothing, some sentences deny."""

import re

_NOTE = re.compile(r"\[\^?(?:\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,19}|[a-z]|note \d{1,3}|(?:citation|clarification) needed)\]")
_ANSWER = re.compile(r"\A[\"'“‘]?(?:yes|no)\s?[,;:–—-]+\s*", re.IGNORECASE)
_QUESTION = re.compile(r"[?？][\"'”’»)\]*_]*\Z")
_UNTRUE = re.compile(
    r"\b(?:is|are|was|were) (?:only |just |simply )?(?:an? )?(?:common |popular |complete |widespread |urban )?"
    r"(?:myths?|hoax(?:es)?|misconceptions?)\b"
    r"|\b(?:is|are|was|were|proved|proven) (?:simply |entirely |completely )?(?:untrue|false|incorrect)\b(?! \w)"
    r"|\b(?:myth|misconception|hoax) that\b|\bfalsely\b|\bdebunked\b|\bden(?:y|ies|ied|ying)\b",
    re.IGNORECASE,
)


def blank_notes(text: str) -> str:
    """The text with blanks for the marks of notes ("[12]", "[note 4]", "[citation needed]"): all else keeps its place."""
    return _NOTE.sub(lambda found: " " * len(found[0]), text)


def strip_answer(sentence: str) -> str:
    """The sentence without "No," or "Yes," before it, which answers a question and is no part of what it says."""
    return _ANSWER.sub("", sentence)


def is_question(sentence: str) -> bool:
    """Whether the sentence only asks."""
    return _QUESTION.search(sentence) is not None


def calls_untrue(sentence: str) -> bool:
    """Whether the sentence says of something that it is a myth, false or denied."""
    return _UNTRUE.search(sentence) is not None
