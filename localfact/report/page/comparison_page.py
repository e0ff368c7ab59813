"""Runs side by side as a page: the claims on which they differ, with every verdict and its evidence; then scores and tests."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from localfact.records import Claim, CountedPassage, Passage, Verdict
from localfact.report.comparison import RunsCompared, differences_table, scores_table
from localfact.report.marked_text import decisive_sentence
from localfact.report.page.plain_settings import find_differing
from localfact.report.page.rendering import is_web_address, page
from localfact.report.palette import MARKS
from localfact.vocabulary import RelationLabel

#: The most claims that the page has, and passages of a verdict; characters of a passage before and after the sentence.
CLAIMS, PASSAGES, AROUND = 300, 2, 240
RELATES: Mapping[RelationLabel, str] = {
    RelationLabel.ENTAILMENT: "speaks for it",
    RelationLabel.CONTRADICTION: "speaks against it",
    RelationLabel.NEUTRAL: "says nothing about it",
    RelationLabel.EQUIVALENCE: "says the same",
}


class Judged(NamedTuple):
    """A claim as one run judged it, with the passages of its response."""

    claim: Claim
    verdict: Verdict
    passages: Mapping[str, Passage]


class Excerpt(NamedTuple):
    """Part of a passage around the sentence that decided: what stands before it, the sentence, what stands after it.

    Attributes:
        said: what the passage says of the claim, in words; "" where that is not known, and the relation is then neutral.
    """

    title: str
    link: str
    followed: bool
    relation: RelationLabel
    said: str
    before: str
    sentence: str
    after: str


def comparison_page(
    compared: RunsCompared,
    judged: Mapping[tuple[str, str, str], Judged],
    settings: Mapping[str, Mapping[str, Any]],
) -> str:
    """The comparison as one HTML file.

    Args:
        judged: (run, response id, claim id) -> what the run says of that claim, for the claims on which they differ.
        settings: run -> what it was set to do, as plain values.
    """
    claims = compared.claims[:CLAIMS]
    return page(
        "comparison.html",
        compared=compared,
        runs=list(settings),
        differing=find_differing(settings),
        tables=[scores_table(compared), differences_table(compared)],
        claims=[
            (claim, [(run, judged.get((run, claim.response_id, claim.claim_id))) for run in claim.verdicts]) for claim in claims
        ],
        excerpts=excerpts,
        left=len(compared.claims) - len(claims),
        marks={label.value: mark for label, mark in MARKS.items()},
    )


def excerpts(one: Judged) -> list[Excerpt]:
    """The strongest passages of a verdict, each around its sentence."""
    found = [counted for counted in one.verdict.passages if counted.passage_id in one.passages][:PASSAGES]
    return [_excerpt(one.claim, counted, one.passages[counted.passage_id]) for counted in found]


def _excerpt(claim: Claim, counted: CountedPassage, passage: Passage) -> Excerpt:
    sentence = decisive_sentence(passage, claim, counted)
    start, end = (sentence.start, sentence.end) if sentence is not None else (0, min(len(passage.text), 2 * AROUND))
    link = passage.links[0] if passage.links else ""
    said = f"{RELATES[counted.relation]} with {counted.probability:.2f}" if counted.relation and counted.probability else ""
    before, after = passage.text[:start], passage.text[end:]
    return Excerpt(
        title=passage.title or passage.host or link,
        link=link,
        followed=is_web_address(link),
        relation=counted.relation or RelationLabel.NEUTRAL,
        said=said,
        before=before if len(before) <= AROUND else f"… {before[-AROUND:].partition(' ')[2]}",
        sentence=passage.text[start:end],
        after=after if len(after) <= AROUND else f"{after[:AROUND].rpartition(' ')[0]} …",
    )
