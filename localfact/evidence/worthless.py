"""Leaves out passages that say nothing of the world: search engines' own words, walls, lists of links, data that is no text."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from localfact.prose import instead_of_prose
from localfact.records import Claim, Evidence, Response
from localfact.stages import Retriever
from localfact.text import word_count
from localfact.web.extracting.walls import wall

DROPPED = (
    "Evidence: passages without a statement (a search engine's own words, requests for consent or a password, lists of links, "
    "data) were left out."
)
#: Fewer words than this state nothing once a search engine's own are taken away.
FEWEST_WORDS = 3
#: The most of a passage's visible characters that may be addresses and the texts of links.
MOST_LINKS = 0.6

_ENGINES_OWN = re.compile(
    r"\bMissing:[^|\n]{1,200}(?:\||$)|\bShow results with:[^|\n]{1,200}(?:\||$)|\bMust include:[^|\n]{1,200}(?:\||$)"
    r"|\b(?:People also (?:ask|search for)|Translate this page|Similar pages|More results from[^|\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_LINK = re.compile(r"\[[^\]\n]{0,200}\]\([^)\s]{1,2000}\)|(?:https?://|www\.)[^\s<>\"]+")


@dataclass(frozen=True)
class WithoutWorthless:
    """A retriever that leaves out passages that state nothing, and counts them by reason."""

    retriever: Retriever

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """The evidence of the retriever without what states nothing; its hits go too, and no other takes their place."""
        found = await self.retriever.retrieve(response, claims)
        reasons = {passage.id: why for passage in found.passages if (why := worthless(passage.text, passage.title))}
        if not reasons:
            return found
        counts = {f"passages_{why}": count for why, count in sorted(Counter(reasons.values()).items())}
        return found.model_copy(
            update={
                "passages": tuple(passage for passage in found.passages if passage.id not in reasons),
                "hits": {
                    claim: tuple(hit for hit in own if hit.passage_id not in reasons) for claim, own in found.hits.items()
                },
                "affinity": {
                    claim: {passage: score for passage, score in own.items() if passage not in reasons}
                    for claim, own in found.affinity.items()
                },
                "counts": {**found.counts, **counts},
                "notes": (*found.notes, DROPPED),
            }
        )


def worthless(text: str, title: str = "") -> str | None:
    """Why a passage cannot be evidence, as the end of a count's name ("links_only"); None if it may state something."""
    if instead_of_prose(text) is not None:
        return "no_text"
    if _ENGINES_OWN.search(text) and word_count(_ENGINES_OWN.sub(" ", text)) < FEWEST_WORDS:
        return "of_search_engines"
    if wall(text, title, with_password=False) is not None:
        return "walls"
    visible = len("".join(text.split()))
    if sum(len("".join(link.split())) for link in _LINK.findall(text)) > MOST_LINKS * visible:
        return "links_only"
    return None
