"""The labels of pre-verification as models write them: in any case, by other names, between signs, with remarks behind."""

import re
from typing import NamedTuple

from localfact.vocabulary import PreVerificationLabel

_BREAK = r"[\s_\-‐‑–]{0,3}"
_NEGATED = rf"(?:non|not|un){_BREAK}supported"
#: What each label may be called. The longer names come first: "not supported" ends like "supported".
_NAMES = {
    PreVerificationLabel.LIKELY_NON_SUPPORTED: rf"likely{_BREAK}{_NEGATED}",
    PreVerificationLabel.LIKELY_SUPPORTED: rf"likely{_BREAK}supported",
    PreVerificationLabel.NON_SUPPORTED: _NEGATED,
    PreVerificationLabel.SUPPORTED: "supported",
    PreVerificationLabel.IRRELEVANT: rf"irrelevant|not{_BREAK}relevant",
    PreVerificationLabel.UNSURE: rf"unsure|uncertain|not{_BREAK}sure",
}
_NAME = "|".join(f"(?P<{label.name}>{names})" for label, names in _NAMES.items())
#: A word that announces a label.
ANNOUNCEMENT = r"(?:label|verdict|decision|pre-?verification|status)"

_AS_ASKED = re.compile(
    rf"[\s*_]{{0,4}}(?:{'|'.join(_BREAK.join(re.split('[ -]', label)) for label in PreVerificationLabel)})[\s*_]{{0,4}}",
    re.IGNORECASE,
)
_WRITTEN = re.compile(
    rf"[\s*_`\"'“”]*(?:{ANNOUNCEMENT}[\s*_]*[:=\-–][\s*_]*)?(?P<word>{_NAME})(?![^\W_])(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
#: Behind a name, these take back part of what it says, and a word that goes on with it says something else.
_QUALIFIES = re.compile(r"\b(?:partial\w*|partly|mostly|but|not|un\w+|likely|probably|possibly|or)\b", re.IGNORECASE)
_ENDS_LABEL = re.compile(r"[\s*_`\"'“”]*(?:$|[:;,.!(\[—–\-])")
#: The last name of a label in a line, with nothing but signs behind it.
_LAST = re.compile(rf"(?<![^\W_])(?P<word>{_NAME})(?P<signs>[^\w\n]*)$", re.IGNORECASE)
#: A name of a label at the beginning of a line, told from the claim's own words by capitals or by signs on both sides.
_FIRST = re.compile(
    rf"(?P<signs>[\[({{*_`#\"'“]*)(?P<word>{_NAME})(?P<closing>[\])}}*_`#\"'”]*)[ \t]*(?P<joint>[:|→–—-]?)[ \t]+(?=\S)",
    re.IGNORECASE,
)


class LabelWord(NamedTuple):
    """A label, and the places [start, end) of its name in the text that it was found in."""

    label: PreVerificationLabel
    start: int
    end: int


def label_in(content: str, offset: int = 0) -> LabelWord | None:
    """The label that stands between signs: "SUPPORTED", "Label: not supported", "NON-SUPPORTED: born in Warsaw".

    None for anything else, as "PARTIALLY SUPPORTED", "LIKELY" and "SUPPORTED (mostly)".

    Args:
        content: the text between the signs.
        offset: its place, which is added to the places returned.
    """
    found = _WRITTEN.fullmatch(content)
    if found is None or not _ENDS_LABEL.match(found["rest"]) or _QUALIFIES.search(found["rest"]):
        return None
    return LabelWord(_label(found), offset + found.start("word"), offset + found.end("word"))


def is_as_asked(content: str) -> bool:
    """Whether the text between the marks is exactly one of the six label names."""
    return bool(_AS_ASKED.fullmatch(content))


def last_label(line: str, offset: int = 0) -> LabelWord | None:
    """The label whose name ends a line, apart from punctuation; None if the line ends otherwise."""
    found = _LAST.search(line)
    return found and LabelWord(_label(found), offset + found.start("word"), offset + found.end("word"))


def after_first_label(text: str, start: int, end: int) -> int:
    """The offset behind a label's name at the beginning of text[start:end]; `start` if there is none."""
    found = _FIRST.match(text, start, end)
    if found is None or not (found["word"].isupper() or found["joint"] or (found["signs"] and found["closing"])):
        return start
    return found.end()


def _label(found: re.Match[str]) -> PreVerificationLabel:
    return next(label for label in _NAMES if found[label.name] is not None)
