"""Citations of a response as the report's script reads them: cited sentences with their sources, and where marks are."""

from collections.abc import Mapping, Sequence
from typing import Any

from localfact.records import Assessment, CheckedCitation, Citations, CitedSentence, CitedSource, Span
from localfact.report.citations_view import SAID, citations_headline
from localfact.report.page.rendering import is_web_address, show
from localfact.vocabulary import CitationVerdict, VerdictLabel

#: Verdict of a citation -> the verdict of a claim in whose colour it is shown.
COLOURS: Mapping[CitationVerdict, VerdictLabel] = {
    CitationVerdict.ENTAILED: VerdictLabel.SUPPORTED,
    CitationVerdict.CONTRADICTED: VerdictLabel.CONTRADICTED,
    CitationVerdict.NOT_SAID: VerdictLabel.NOT_ENOUGH_EVIDENCE,
    CitationVerdict.FAILED: VerdictLabel.FAILED,
}
#: Where the text of a source is from, in words.
ORIGINS = {"given": "came with the text", "passages": "a passage of the text", "corpus": "in the corpus", "web": "from the web"}


def cited_sentences(found: Citations) -> list[CitedSentence]:
    """Those that have citations, by whose order the page numbers them."""
    return [one for one in found.sentences if one.citations]


def mark_places(found: Citations | None) -> list[tuple[Span, int, CitationVerdict]]:
    """Each mark with the number of its sentence and what is shown of it: the most telling of its sources' verdicts."""
    if found is None:
        return []
    worst: dict[tuple[int, int], tuple[Span, int, CitationVerdict]] = {}
    for number, sentence in enumerate(cited_sentences(found)):
        for citation in sentence.citations:
            for mark in citation.marks:
                known = worst.get((mark.start, mark.end))
                if known is None or _rank(citation.verdict) < _rank(known[2]):
                    worst[mark.start, mark.end] = (mark, number, citation.verdict)
    return list(worst.values())


def _rank(verdict: CitationVerdict) -> int:
    first = (CitationVerdict.CONTRADICTED, CitationVerdict.NO_TARGET, CitationVerdict.GONE, CitationVerdict.NOT_GIVEN)
    order = (*first, CitationVerdict.NOT_SAID, CitationVerdict.FAILED, CitationVerdict.ENTAILED)
    return order.index(verdict)


def colour_of(verdict: CitationVerdict) -> str:
    """The class of the page's style sheet for it."""
    return COLOURS.get(verdict, VerdictLabel.UNDECIDED).value


def citations_data(assessment: Assessment) -> dict[str, Any] | None:
    """What the page shows of them; None where they were not checked."""
    found = assessment.citations
    if found is None:
        return None
    sources = {source.id: source for source in found.sources}
    claims = {claim.id: claim.text for claim in assessment.claims}
    return {
        "headline": show(citations_headline(found)),
        "sentences": [_sentence(one, sources, claims, assessment.text) for one in cited_sentences(found)],
    }


def _sentence(
    sentence: CitedSentence, sources: Mapping[str, CitedSource], claims: Mapping[str, str], text: str
) -> dict[str, Any]:
    together = sentence.verdict or CitationVerdict.FAILED
    entailed = "entails" if sentence.supported else "does not entail"
    return {
        "text": show(sentence.text),
        "colour": colour_of(together),
        "told": "It could not be judged." if sentence.supported is None else f"What it cites, taken together, {entailed} it.",
        "sources": [_citation(one, sources[one.source], text) for one in sentence.citations],
        "claims": [[show(claims.get(one.claim_id, one.claim_id)), *_told(one.verdict)] for one in sentence.claims],
    }


def _citation(citation: CheckedCitation, source: CitedSource, text: str) -> dict[str, Any]:
    needless = citation.verdict is CitationVerdict.NOT_SAID and citation.counts is False
    return {
        "mark": show(" ".join(dict.fromkeys(_marks(citation.marks, text)))),
        "title": show(source.title),
        "link": None if source.link is None else [show(source.link), is_web_address(source.link)],
        "where": ORIGINS.get(source.origin or "", source.reason or ""),
        "verdict": _told(citation.verdict),
        "entailment": citation.entailment,
        "contradiction": citation.contradiction,
        "counts": "It adds nothing that counts for the sentence." if needless else "",
        "quote": None if citation.quote is None else show(citation.quote),
    }


def _marks(marks: Sequence[Span], text: str) -> list[str]:
    return [text[span.start : span.end] for span in marks]


def _told(verdict: CitationVerdict) -> list[str]:
    sign, told, _ = SAID[verdict]
    return [colour_of(verdict), sign, told]
