"""Extracts claims by rules: the statements of a response, split into short self-contained pieces. Needs no model."""

import asyncio
from collections import Counter

from localfact.claims.merging import merge_claims, number_claims
from localfact.claims.rules.checkworthy import left_unread
from localfact.claims.rules.statements import statements
from localfact.records import Claim, Extraction, Response


class RuleExtractor:
    """Extracts claims by rules: no model, nothing random."""

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text, and in `dropped` the number of other sentences by `DropReason`.

        Equal claims (after `text.normalise`) are merged into one with the spans of all of them.
        """
        return await asyncio.to_thread(_extraction, response)


def states_something(text: str) -> bool:
    """Whether the rules find a claim in a text."""
    return next(statements(Response(id="", text=text), Counter()), None) is not None


def _extraction(response: Response) -> Extraction:
    dropped: Counter[str] = Counter()
    found = [claim for statement in statements(response, dropped) for claim in statement.claims]
    claims = [Claim(id="", text=text, spans=(span,)) for text, span in found]
    unread = () if claims else left_unread(dropped)
    merged = number_claims(merge_claims(claims).claims)
    return Extraction(claims=merged, dropped=dict(dropped), warnings=unread, unread=bool(unread))
