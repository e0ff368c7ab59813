"""Claims whose subject is a bare pronoun: nobody knows whom they are about, so a page about somebody else settles nothing."""

import re

from localfact.records import Claim, Passage, Response

_INTRODUCTION = (
    r"(?:(?:After|As|At|Before|By|During|From|In|On|Since|Throughout|Until|Upon|When|While)\b[^,]{1,100}, (?:\d{4},? )?)?"
)
_PRONOUN = re.compile(
    rf"{_INTRODUCTION}(?P<pronoun>(?i:he|she|it|they|his|her|its|their))\b(?! (?:(?:is|was) (?:\w+ )?(?:that|to)\b))"
)
_CAPITALISED = r"[A-Z\u00c0-\u00de][\w'’.-]*\w"
_NAME = re.compile(rf"{_CAPITALISED}(?: (?:de |van |von |of |the )?{_CAPITALISED})+")
#: How much of a passage is searched for whom it is about, where it has no title.
OPENING = 300


def has_unclear_subject(claim: Claim) -> bool:
    """Whether a claim begins with a pronoun whose person the claim does not name."""
    return bool(_PRONOUN.match(claim.text))


def is_about_another(passage: Passage, response: Response) -> bool:
    """Whether a passage is about somebody by name, and has neither the topic nor anybody else whom the response names."""
    about = passage.title if _NAME.search(passage.title) else passage.text[:OPENING]
    if _NAME.search(about) is None:
        return False
    names = {response.topic or "", *_NAME.findall(response.text)}
    known = {name.split()[-1].casefold().removesuffix("'s").removesuffix("’s") for name in names if name.strip()}
    found = re.findall(r"\w[\w'’.-]*\w", f"{passage.title} {passage.text}".casefold())
    return known.isdisjoint(word.removesuffix("'s").removesuffix("’s") for word in found)
