"""Extracts claims by rules: the statements of a response, split into short self-contained pieces. Needs no model."""

import asyncio
from collections import Counter

from localfact.claims.merging import Merging, merge_within, number_claims
from localfact.claims.rules.checkworthy import left_unread
from localfact.claims.rules.statements import statements
from localfact.records import Claim, Extraction, Response


class RuleExtractor:
    """Extracts claims by rules: no model, nothing random. `merging`: which equal claims become one."""

    def __init__(self, merging: Merging = "response") -> None:
        self.merging = merging

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text, and in `dropped` the number of other sentences by `DropReason`.

        Equal claims (after `text.normalise`) that are merged have the spans of all of them.
        """
        return await asyncio.to_thread(_extraction, response, self.merging)


def states_something(text: str) -> bool:
    """Whether the rules find a claim in a text."""
    return next(statements(Response(id="", text=text), Counter()), None) is not None


def _extraction(response: Response, merging: Merging) -> Extraction:
    dropped: Counter[str] = Counter()
    found = [statement.claims for statement in statements(response, dropped)]
    claims = [[Claim(id="", text=text, spans=(span,)) for text, span in each] for each in found]
    merged = number_claims(merge_within(claims, merging).claims)
    unread = () if merged else left_unread(dropped)
    return Extraction(claims=merged, dropped=dict(dropped), warnings=unread, unread=bool(unread))
