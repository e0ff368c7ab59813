"""What a reader of a verdict must know besides its label: languages nobody can read here, one source."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from localfact.assess.unclear import has_unclear_subject
from localfact.records import Claim, CountedPassage, Evidence, Judgement, Passage, Response, Verdict
from localfact.text import foreign_language
from localfact.vocabulary import Flag, RelationLabel, VerdictLabel

#: A passage was found about the same thing where it matches the claim this well, as a share of the deciding passage's match.
NEARLY = 0.8
#: The relation that speaks for a verdict.
SIDE = {VerdictLabel.SUPPORTED: RelationLabel.ENTAILMENT, VerdictLabel.CONTRADICTED: RelationLabel.CONTRADICTION}


@dataclass(frozen=True)
class Flags:
    """Marks verdicts that a reader should not take at face value.

    Attributes:
        extractor, relations: the languages that the claims' extractor and the relation model know, as two-letter codes; None
            where that is not stated, as of a large language model.
    """

    extractor: Collection[str] | None = None
    relations: Collection[str] | None = None

    async def flag(
        self, response: Response, claims: Mapping[str, Claim], judgement: Judgement, evidence: Evidence
    ) -> Judgement:
        """The judgement with the flags of each verdict. Works in a thread, as detecting a language loads a model at first."""
        return await asyncio.to_thread(self._flag, response, claims, judgement, evidence)

    def _flag(self, response: Response, claims: Mapping[str, Claim], judgement: Judgement, evidence: Evidence) -> Judgement:
        passages = {passage.id: passage for passage in evidence.passages}
        foreign = {passage.id for passage in _find_named(judgement, passages) if is_foreign(passage.text, self.relations)}
        unread = any(is_foreign(response.text, known) for known in (self.extractor, self.relations))

        def find(verdict: Verdict) -> Iterator[Flag]:
            behind = behind_it(verdict)
            if unread or any(counted.passage_id in foreign for counted in verdict.passages):
                yield Flag.UNKNOWN_LANGUAGE
            if has_unclear_subject(claims[verdict.claim_id]):
                yield Flag.UNCLEAR_SUBJECT
            if stands_alone(verdict.claim_id, [passages[counted.passage_id] for counted in behind], evidence):
                yield Flag.SINGLE_SOURCE

        verdicts = (
            verdict.model_copy(update={"flags": (*find(verdict), *verdict.flags)})
            if verdict.label is not VerdictLabel.FAILED
            else verdict
            for verdict in judgement.verdicts
        )
        return judgement.model_copy(update={"verdicts": tuple(verdicts)})


def behind_it(verdict: Verdict) -> list[CountedPassage]:
    """The passages behind a supported or contradicted verdict: on its side, or all that a verifier read; else none."""
    side = SIDE.get(verdict.label)
    return [counted for counted in verdict.passages if counted.relation in (side, None)] if side is not None else []


def stands_alone(claim: str, behind: Sequence[Passage], evidence: Evidence) -> bool:
    """Whether one source is behind a verdict, though others that were found about the same thing could have been.

    One source is one passage, or passages of one host. Where no other was found, that says how many pages there are and
    nothing of the claim; so another source has to be among the claim's hits, and match the claim nearly as well as the first
    that is behind it (NEARLY), where the retriever scored both. It is not on the verdict's side, or it would be behind it.
    """
    hosts, own = {passage.host for passage in behind}, {passage.id for passage in behind}
    one_host = len(hosts) == 1 and hosts != {None}
    if len(own) != 1 and not one_host:
        return False
    match = evidence.affinity.get(claim, {})
    least = NEARLY * match.get(behind[0].id, 0.0)
    found = {hit.passage_id for hit in evidence.hits.get(claim, ())} - own
    return any(
        passage.id in found and match.get(passage.id, least) >= least and not (one_host and passage.host in hosts)
        for passage in evidence.passages
    )


def _find_named(judgement: Judgement, passages: Mapping[str, Passage]) -> list[Passage]:
    named = {counted.passage_id for verdict in judgement.verdicts for counted in verdict.passages}
    return [passages[identity] for identity in named]


def is_foreign(text: str, known: Collection[str] | None) -> bool:
    """Whether a text is in none of the known languages, given by two-letter codes; never where they are not stated (None)."""
    return known is not None and bool(text.strip()) and foreign_language(text, known) is not None
