"""Checks the citations of one response: finds marks, resolves them to sources, and asks the relation model what these say.

sentence + its marks -> sources -> the parts of each that speak of the sentence -> each alone, and all joined -> ALCE's scores
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from localfact.citations import alce
from localfact.citations.alce import JudgedSentence
from localfact.citations.bibliography import references_of
from localfact.citations.deciding import DecidingQuote, ReadForSentence, deciding_quotes
from localfact.citations.marks import marks_of
from localfact.citations.reading import extract_of
from localfact.citations.sentences import MarkedSentence, marked_sentences
from localfact.citations.sources import LookUp, ReadSource, Resolver, look_nowhere, names_of
from localfact.records import (
    CheckedCitation,
    Citations,
    CitedClaim,
    CitedSentence,
    Claim,
    Distribution,
    Failure,
    Pair,
    Response,
    Span,
)
from localfact.relations.reasons import below_title
from localfact.stages import Explainer, Relate, Relations
from localfact.vocabulary import CitationVerdict, RelationLabel

#: Part of what decides the results; increased when marks, sources or windows are read in another way.
CITATIONS_VERSION = 1
#: The most sources of one sentence that are read: further ones count as not given.
MOST_CITED = 10

_VERDICTS = {
    RelationLabel.ENTAILMENT: CitationVerdict.ENTAILED,
    RelationLabel.CONTRADICTION: CitationVerdict.CONTRADICTED,
    RelationLabel.NEUTRAL: CitationVerdict.NOT_SAID,
}


@dataclass(frozen=True)
class _Cited:
    """A source that a sentence cites: its marks there, and what of it is read for the sentence; None where there is no text."""

    source: ReadSource
    marks: tuple[Span, ...]
    extract: str | None

    @property
    def title(self) -> str:
        return self.source.cited.title

    @property
    def premise(self) -> str:
        """What is read of it, below its title."""
        return below_title(self.title, self.extract or "")


@dataclass(frozen=True)
class _Asked:
    """A sentence with the sources that it cites, and the claims in it."""

    sentence: MarkedSentence
    cited: Sequence[_Cited]
    claims: Sequence[Claim]

    @property
    def read(self) -> list[_Cited]:
        """Those of its sources that have a text."""
        return [one for one in self.cited if one.extract is not None]

    def join_sources(self, without: _Cited | None = None, claim: Claim | None = None) -> Pair:
        """All that is read of its sources, or of all but one, and the sentence; or what is read for a claim, and the claim."""
        said = self.sentence.text if claim is None else claim.text
        parts = [
            one.premise if claim is None else below_title(one.title, extract_of(one.source.text, said))
            for one in self.read
            if one is not without
        ]
        return Pair("\n\n".join(parts), said)

    def pairs(self) -> Iterator[Pair]:
        """What is asked first: each source alone, all joined, and the claims."""
        if self.read:
            yield from (Pair(one.premise, self.sentence.text) for one in self.read)
            yield self.join_sources()
            yield from (self.join_sources(claim=claim) for claim in self.claims)

    def doubtful(self, said: Relations) -> Iterator[_Cited]:
        """The sources that are needed only if the others do not entail the sentence without them (`alce`)."""
        if len(self.read) > 1 and _entails(said[self.join_sources()]):
            yield from (one for one in self.read if _entails(said[Pair(one.premise, self.sentence.text)]) is False)


@dataclass(frozen=True)
class CitationChecker:
    """Checks citations.

    Attributes:
        explainer: finds the sentence of a source that decides.
        look_up: finds pages by their address.
    """

    explainer: Explainer | None = None
    look_up: LookUp = look_nowhere

    async def check(
        self, response: Response, claims: Sequence[Claim], relate: Relate, observe: Callable[[str, int], None]
    ) -> Citations:
        """Says what the sources say of each sentence that cites them.

        Args:
            claims: of the response, with their places.
            relate: asks the relation model.
            observe: gets the number of citations before they are checked.
        """
        resolver = Resolver(response, await asyncio.to_thread(references_of, response.text))
        marks = await asyncio.to_thread(marks_of, response.text, resolver.known)
        sentences, outside = await asyncio.to_thread(marked_sentences, response.text, marks)
        sources, places = await resolver.read((mark for one in sentences for mark in one.marks), self.look_up)
        asked = await asyncio.to_thread(lambda: [_gather_sources(one, sources, places, claims) for one in sentences])
        observe("citations", sum(len(one.cited) for one in asked))
        pairs = list(dict.fromkeys(pair for one in asked for pair in one.pairs()))
        said = dict(await relate(pairs)) if pairs else {}
        without = {one.join_sources(source): None for one in asked if one.read for source in one.doubtful(said)}
        further = [pair for pair in without if pair not in said]
        if further:
            said |= await relate(further)
        quotes = await deciding_quotes(list(_list_quoted(asked, said)), self.explainer, relate)
        judged = [_judge_sentence(one, said) for one in asked]
        found = [_describe_sentence(one, found, said, quotes) for one, found in zip(asked, judged, strict=True)]
        return Citations(
            sources=tuple(source.cited for source in sources),
            sentences=tuple(found),
            recall=alce.recall(judged),
            precision=alce.precision(judged),
            counts=_counts(found, outside, len(said)),
        )


def count_citations(response: Response) -> dict[str, int]:
    """The sentences of a response, the sources that they cite, and the most pairs that checking them relates.

    Those are, for each sentence, each source alone, all joined, and all but one; without its claims and deciding sentences.
    """
    resolver = Resolver(response, references_of(response.text))
    sentences, _ = marked_sentences(response.text, marks_of(response.text, resolver.known))
    cited = [len({name for mark in one.marks for name in names_of(mark)}) for one in sentences]
    read = [min(each, MOST_CITED) for each in cited]
    pairs = sum(each and (1 if each == 1 else 2 * each + 1) for each in read)
    return {"sentences": len(sentences), "marks": sum(cited), "pairs_at_most": pairs}


def _gather_sources(
    sentence: MarkedSentence, sources: Sequence[ReadSource], places: Mapping[str, int], claims: Sequence[Claim]
) -> _Asked:
    marks: dict[int, list[Span]] = {}
    for mark in sentence.marks:
        for name in names_of(mark):
            marks.setdefault(places[name], []).append(mark.span)
    cited = []
    for number, (place, own) in enumerate(marks.items()):
        readable = bool(sources[place].text) and number < MOST_CITED
        extract = extract_of(sources[place].text, sentence.text) if readable else None
        cited.append(_Cited(sources[place], tuple(own), extract))
    inside = [claim for claim in claims if cited and _is_part(claim, sentence)]
    return _Asked(sentence, cited, inside)


def _is_part(claim: Claim, sentence: MarkedSentence) -> bool:
    """Whether a claim is taken from the sentence, and says something else than all of it."""
    own = sentence.span
    inside = any(own.start <= span.start and span.end <= own.end for span in claim.spans)
    return inside and claim.text.rstrip(".") != sentence.text.rstrip(".")


def _entails(said: Distribution | Failure) -> bool | None:
    return said.label is RelationLabel.ENTAILMENT if isinstance(said, Distribution) else None


def _judge_sentence(one: _Asked, said: Relations) -> JudgedSentence:
    if not one.read:
        return JudgedSentence(False, [False] * len(one.cited), [False] * len(one.cited))
    alone = [False if each.extract is None else _entails(said[Pair(each.premise, one.sentence.text)]) for each in one.cited]
    together = _entails(said[one.join_sources()])
    others: list[bool | None] = []
    for each in one.cited:
        if each.extract is None:  # what cannot be read adds nothing: the others say what all say
            others.append(together)
        else:
            known = said.get(one.join_sources(each)) if len(one.read) > 1 else None
            others.append(False if len(one.read) == 1 else None if known is None else _entails(known))
    return JudgedSentence(together, alone, others)


def _list_quoted(asked: Sequence[_Asked], said: Relations) -> Iterator[ReadForSentence]:
    for one in asked:
        for each in one.read:
            relation = said[Pair(each.premise, one.sentence.text)]
            if isinstance(relation, Distribution) and each.extract is not None:
                yield ReadForSentence(each.title, each.extract, one.sentence.text, relation)


def _describe_sentence(
    one: _Asked, judged: JudgedSentence, said: Relations, quotes: Mapping[tuple[str, str], DecidingQuote]
) -> CitedSentence:
    citations = []
    for each, counts in zip(one.cited, judged.precise, strict=True):
        citation = CheckedCitation(
            source=each.source.cited.id, marks=each.marks, verdict=_verdict_without_text(each), counts=counts
        )
        if each.extract is not None:
            found = said[Pair(each.premise, one.sentence.text)]
            quote = quotes.get((each.premise, one.sentence.text), DecidingQuote())
            citation = citation.model_copy(update={**_describe_relation(found), **quote._asdict()})
        citations.append(citation)
    together = _describe_relation(said[one.join_sources()])["verdict"] if one.read else _first_verdict(citations)
    claims = [
        CitedClaim(claim_id=claim.id, **_describe_relation(said[one.join_sources(claim=claim)]))
        for claim in one.claims
        if one.read
    ]
    return CitedSentence(
        span=one.sentence.span,
        text=one.sentence.text,
        citations=tuple(citations),
        verdict=together,
        supported=judged.together,
        claims=tuple(claims),
    )


def _verdict_without_text(cited: _Cited) -> CitationVerdict:
    state = cited.source.cited.state
    return CitationVerdict.NOT_GIVEN if state == "read" else CitationVerdict(state)


def _first_verdict(citations: Sequence[CheckedCitation]) -> CitationVerdict | None:
    return citations[0].verdict if citations else None


def _describe_relation(found: Distribution | Failure) -> dict[str, Any]:
    """The verdict and the probabilities of a relation."""
    if isinstance(found, Failure):
        return {"verdict": CitationVerdict.FAILED}
    return {
        "verdict": _VERDICTS[found.label],
        "entailment": found.entailment,
        "contradiction": found.contradiction,
    }


def _counts(sentences: Sequence[CitedSentence], outside: int, pairs: int) -> dict[str, int]:
    verdicts = Counter(citation.verdict.value for one in sentences for citation in one.citations)
    return {
        "sentences": len(sentences),
        "uncited": sum(not one.citations for one in sentences),
        "citations": sum(verdicts.values()),
        **{verdict.value: verdicts[verdict.value] for verdict in CitationVerdict},
        "marks_outside": outside,
        "pairs": pairs,
    }
