"""Completes claims that were cut at the most characters that a grammar allows, from the text that they were copied from.

A small model copies: where the last words before the cut stand once in the text, it would have gone on as the text does. What
it wrote next, as a claim, is then a piece of the same sentence, and goes.
"""

import re
from collections import Counter
from collections.abc import Sequence

from localfact.claims.chunks import Chunk, ClaimLocator
from localfact.claims.lines import plain
from localfact.prompts.grammars import LAST_TOKEN, LONGEST, is_cut
from localfact.records import Claim
from localfact.text import sentences

#: The characters before the cut by which its place in the text is found.
COPIED = 40
#: What may stand behind the last word of a claim.
_END = " ."


def complete_cut_claims(claims: Sequence[Claim], chunk: Chunk, tally: Counter[str]) -> tuple[Claim, ...]:
    """The claims of an answer that had to keep to a grammar, those that it cut with the rest of their sentence.

    One that was not copied from the chunk stays as it is. Adds to `tally`: "claims_completed", and "claims_cut" of those.
    """
    locator = ClaimLocator(chunk)
    whole: list[Claim] = []
    rest = ""
    for claim in claims:
        text = _without_piece(claim.text, rest)
        rest = _rest(text, chunk)
        tally["claims_completed"] += bool(rest)
        tally["claims_cut"] += is_cut(text) and not rest
        if rest:
            text = text[:-LAST_TOKEN] + rest
        if text:
            same = text == claim.text
            whole.append(claim if same else claim.model_copy(update={"text": text, "spans": locator.locate(text)}))
    return tuple(whole)


def _rest(claim: str, chunk: Chunk) -> str:
    """What stands in the sentence that a cut claim was copied from, behind all but its last token; "" of any other claim."""
    copied, end = claim[:-LAST_TOKEN][-COPIED:], claim[-LAST_TOKEN:].rstrip(_END)
    if len(claim) <= LONGEST - LAST_TOKEN or chunk.text.count(copied) != 1:
        return ""
    place = chunk.spans[0].start + chunk.text.index(copied) + len(copied)
    sentence_end = next(span.end for span in chunk.spans if span.end >= place)
    rest = re.sub(r"\s+", " ", plain(chunk.response[place:sentence_end]))
    ends_with_a_word = rest.startswith(end) and not rest[len(end) : len(end) + 1].isalnum()
    return "" if ends_with_a_word and not is_cut(claim) else rest


def _without_piece(claim: str, rest: str) -> str:
    """What a claim says behind its first sentence, where that is a piece of the rest of the sentence before."""
    first = next(iter(sentences(claim)), None)
    if not rest or first is None or claim[: first.end].rstrip(_END) not in rest:
        return claim
    return claim[first.end :].strip()
