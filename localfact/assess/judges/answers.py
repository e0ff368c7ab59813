"""Reads the answers of judges: the last label between brackets or hashes, True or False, or FacTool's fields.

The answer is untrusted text, which may quote a page. What cannot be read is None, never guessed.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from localfact.text import readable
from localfact.thoughts import without_thoughts

#: The labels that FactVerify, VeriScore and the prompt of Table 36 ask for.
SUPPORTED, CONTRADICTED, UNDECIDED = "Supported", "Contradicted", "Undecided"
THREE_WAYS = (SUPPORTED, CONTRADICTED, UNDECIDED)
#: Words for the third that the prompts of these methods had in earlier versions, and that models still write.
_UNDECIDED_TOO = ("Inconclusive", "Unverifiable")
#: The second label of SAFE, which has no third.
UNSUPPORTED = "Unsupported"
#: Those of FactScore.
TRUE, FALSE = "True", "False"

#: Returns the label of an answer; None where there is none.
ReadLabel = Callable[[str], str | None]

#: What may stand around a label. Possessive, so that no answer makes the search slow.
_EDGES = r"[\s*_`'\"“”.:]*+"
_BRACKETED = re.compile(rf"\[{_EDGES}(?P<label>[^\W_]++){_EDGES}\]")
_HASHED = re.compile(rf"(?<!#)#{{2,}}+{_EDGES}(?P<label>[^\W_]++){_EDGES}#{{2,}}")
_RATED = re.compile(rf"\[{_EDGES}(?P<label>(?:not[ _-]|un)?supported){_EDGES}\]", re.IGNORECASE)


def read_bracketed(answer: str) -> str | None:
    """The last of THREE_WAYS between square brackets (FactReasoner, Tables 34 and 36)."""
    return _last(_BRACKETED, answer)


def read_rating(answer: str) -> str | None:
    """The last of SUPPORTED and UNSUPPORTED between square brackets (SAFE); "Not Supported" is read as UNSUPPORTED."""
    found = [one["label"] for one in _RATED.finditer(without_thoughts(readable(answer)))]
    return None if not found else SUPPORTED if found[-1].casefold() == SUPPORTED.casefold() else UNSUPPORTED


def read_hashed(answer: str) -> str | None:
    """The last of THREE_WAYS between # signs (FactReasoner, Table 35)."""
    return _last(_HASHED, answer)


class Factuality(NamedTuple):
    """FacTool's judgement of a claim.

    Attributes:
        factual: None where it cannot be read. reasoning, error, correction: "" where they are missing.
    """

    factual: bool | None
    reasoning: str = ""
    error: str = ""
    correction: str = ""


#: One field of FacTool's answer, whatever quotes stand around it; values may be JSON's or Python's.
_FIELD = r"[\"'“]?{name}[\"'”]?\s*:\s*"
_FACTUALITY = re.compile(_FIELD.format(name="factuality") + r"[\"'“]?(?P<value>true|false)\b", re.IGNORECASE)
_TEXTS = {
    name: re.compile(_FIELD.format(name=name) + r"(?P<quote>[\"'“])(?P<value>(?:\\.|(?!(?P=quote)\s*[,}\n]).)*)", re.DOTALL)
    for name in ("reasoning", "error", "correction")
}


def read_factuality(answer: str) -> Factuality:
    """FacTool's fields, of JSON or what a model writes for it: Python's True, missing quotes or braces, text around it.

    The last "factuality" counts, as a model that goes on may repeat the fields.
    """
    said = without_thoughts(readable(answer))
    found = list(_FACTUALITY.finditer(said))
    texts = {name: one["value"].strip() if (one := pattern.search(said)) else "" for name, pattern in _TEXTS.items()}
    return Factuality(found[-1]["value"].casefold() == "true" if found else None, **texts)


def read_factual(answer: str) -> str | None:
    """TRUE or FALSE by FacTool's "factuality"."""
    factual = read_factuality(answer).factual
    return None if factual is None else TRUE if factual else FALSE


def factuality_told(answer: str) -> str:
    """FacTool's fields in words; the answer itself where it has none of them."""
    found = read_factuality(answer)
    parts = [found.reasoning]
    for name, text in (("Error", found.error), ("Correction", found.correction)):
        if text and text != "None":
            parts.append(f"{name}: {text}")
    return "\n".join(filter(None, parts)) or answer


def _last(pattern: re.Pattern[str], answer: str) -> str | None:
    names = {label.casefold(): label for label in THREE_WAYS} | {word.casefold(): UNDECIDED for word in _UNDECIDED_TOO}
    found = [
        name for one in pattern.finditer(without_thoughts(readable(answer))) if (name := names.get(one["label"].casefold()))
    ]
    return found[-1] if found else None
