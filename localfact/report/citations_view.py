"""Draws checked citations for a terminal: what each source says of each sentence that cites it, in its own words."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from localfact.records import Assessment, CheckedCitation, Citations, CitedSentence, CitedSource
from localfact.report.console import line
from localfact.report.tables import shorten
from localfact.vocabulary import CitationVerdict

#: Verdict -> its sign, its words and its style.
SAID: dict[CitationVerdict, tuple[str, str, str]] = {
    CitationVerdict.ENTAILED: ("+", "says so", "green"),
    CitationVerdict.CONTRADICTED: ("−", "says otherwise", "red"),
    CitationVerdict.NOT_SAID: ("?", "does not say it", "yellow"),
    CitationVerdict.GONE: ("×", "is gone", "magenta"),
    CitationVerdict.NOT_GIVEN: ("×", "is not at hand", "magenta"),
    CitationVerdict.NO_TARGET: ("×", "stands for nothing", "magenta"),
    CitationVerdict.FAILED: ("!", "could not be judged", "bold red"),
}
#: The most characters of a sentence, a quote and a source's name.
SHOWN, NAMED = 240, 100


def citations_view(assessment: Assessment) -> RenderableType | None:
    """The citations of a response; None where they were not checked."""
    found = assessment.citations
    if found is None:
        return None
    parts: list[RenderableType] = [line(citations_headline(found), "bold")]
    sources = {source.id: source for source in found.sources}
    texts = {claim.id: claim.text for claim in assessment.claims}
    cited = [one for one in found.sentences if one.citations]
    parts += [Padding(Group(*_lines(one, sources, texts, assessment.text)), (0, 0, 0, 2)) for one in cited]
    uncited = [one for one in found.sentences if not one.citations]
    if uncited:
        first = f": {shorten(uncited[0].text, SHOWN)}" + (" ..." if len(uncited) > 1 else "")
        parts.append(line(f"Without a citation, {len(uncited)} of {len(found.sentences)} sentences{first}", "dim"))
    return Padding(Group(*parts), (1, 0, 0, 0))


def citations_headline(found: Citations) -> str:
    """The scores and the counts in a line."""
    recall, precision = ("none" if value is None else f"{value:.2f}" for value in (found.recall, found.precision))
    counted = [f"{found.counts[one]} {one.replace('_', ' ')}" for one in CitationVerdict if found.counts.get(one)]
    told = f": {', '.join(counted)}" if counted else ""
    return f"Citations: recall {recall}, precision {precision}; {found.counts.get('citations', 0)} citations{told}"


def _lines(
    sentence: CitedSentence, sources: dict[str, CitedSource], texts: dict[str, str], text: str
) -> Iterator[RenderableType]:
    yield line(shorten(sentence.text, SHOWN))
    for citation in sentence.citations:
        yield _citation_line(citation, sources[citation.source], text)
    for claim in sentence.claims:
        sign, told, style = SAID[claim.verdict]
        told = f"{sign} of “{shorten(texts.get(claim.claim_id, claim.claim_id), SHOWN)}” what is cited {told}"
        yield Padding(line(told, style), (0, 0, 0, 4))


def _citation_line(citation: CheckedCitation, source: CitedSource, text: str) -> RenderableType:
    sign, told, style = SAID[citation.verdict]
    mark = " ".join(dict.fromkeys(shorten(text[span.start : span.end], NAMED) for span in citation.marks))
    shown = Text(f"{sign} ", style).append(line(f"{mark} {told}", style))
    if citation.verdict is CitationVerdict.ENTAILED and citation.counts is False:
        shown.append(line(" (alone; not with the others)", style))
    if citation.quote is not None:
        shown.append(line(f"  {shorten(citation.quote, SHOWN)}", "dim"))
    elif source.reason:
        shown.append(line(f": {source.reason}", "dim"))
    shown.append(line(f"  [{name_of(source)}]", "dim"))
    return Padding(shown, (0, 0, 0, 2))


def name_of(source: CitedSource) -> str:
    """A source by its address, else its title, else its mark."""
    return shorten(source.link or source.title or f"source {source.mark}", NAMED)
