"""The findings of a run as the page opens on them: the worst contradicted claims as cards, which need no script."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from localfact.records import Assessment, Span
from localfact.report.explanations import FLAGS
from localfact.report.findings import FoundClaim, find_claims, how_clearly, is_weak, without_flags
from localfact.report.marked_text import Quote, quote
from localfact.report.page.rendering import is_web_address
from localfact.vocabulary import Flag, VerdictLabel

#: The most cards that stand in the page itself; its script makes those after them.
CARDS = 50


class Card(NamedTuple):
    """A finding in words.

    Attributes:
        address: of the claim in its text, for the script. where: its response and number.
        annotated: what the annotators call it; "" where they say nothing.
        claim, page: pieces of the claim and of the page's sentence, each with whether it is what differs.
        source, link, followed: the passage's title, its address, and whether a click on it may lead there.
    """

    address: str
    where: str
    label: str
    weak: bool
    word: str
    posterior: float | None
    annotated: str
    flags: Sequence[str]
    claim: Sequence[tuple[str, bool]]
    page: Sequence[tuple[str, bool]]
    source: str
    link: str
    followed: bool


def make_cards(assessments: Sequence[Assessment], common: Collection[Flag]) -> list[Card]:
    """The worst contradicted claims, at most CARDS. Args: common: flags that are said once for the run."""
    numbers = {id(assessment): number for number, assessment in enumerate(assessments, start=1)}
    found = find_claims(assessments, [VerdictLabel.CONTRADICTED])[:CARDS]
    return [_card(one, numbers[id(one.assessment)], common) for one in found]


def split_claim(text: str, claimed: Span | None) -> list[tuple[str, bool]]:
    """A claim in pieces, each with whether it is what differs from the page."""
    if claimed is None:
        return [(text, False)]
    parts = (text[: claimed.start], False), (text[claimed.start : claimed.end], True), (text[claimed.end :], False)
    return [part for part in parts if part[0]]


def _card(found: FoundClaim, response: int, common: Collection[Flag]) -> Card:
    claim, verdict, passage = found.claim, found.verdict, found.passage
    said = quote(claim, found.counted, passage) if found.counted is not None and passage is not None else Quote((), None)
    link = passage.links[0] if passage is not None and passage.links else ""
    return Card(
        address=f"#response={response}&claim={found.number + 1}",
        where=f"{found.assessment.response_id}, claim {found.number + 1}",
        label=verdict.label.value,
        weak=is_weak(verdict.label, verdict.posterior),
        word=how_clearly(verdict.label, verdict.posterior),
        posterior=verdict.posterior,
        annotated=claim.gold.value.replace("_", " ") if claim.gold is not None else "",
        flags=[FLAGS[flag] for flag in without_flags(verdict, common)],
        claim=split_claim(claim.text, said.claimed),
        page=said.pieces,
        source=(passage.title or passage.host or "") if passage is not None else "",
        link=link,
        followed=is_web_address(link),
    )
