"""Asks a response for the key facts of the pages about its prompt.

prompt, topic -> passages -> facts -> merged and weighed -> each asked of the response -> R@E, and what is missing
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from localfact.errors import MissingError
from localfact.models.embedder import Embedder
from localfact.recall.asking import AskedFact, judge_fact
from localfact.recall.facts import facts_of, subject_of
from localfact.recall.merging import MergedFact, merge_facts
from localfact.records import Claim, Distribution, Evidence, EvidenceRecall, FactSource, Failure, KeyFact, Response
from localfact.stages import Relate, Retriever
from localfact.vocabulary import FactVerdict

#: Part of what decides the results; increased when facts are chosen, or asked, in another way.
RECALL_VERSION = 1
#: Passages that are looked for, for the topic and for the prompt each: with a dozen facts in each, enough for a long answer.
PASSAGES = 10
#: What a fact counts in R@E by its verdict.
COUNTS_AS = {FactVerdict.SAID: 1.0, FactVerdict.PARTLY_SAID: 0.5, FactVerdict.CONTRADICTED: 0.0, FactVerdict.OMITTED: 0.0}

NOTHING_ASKED = "neither a topic nor a prompt is known"
NO_PAGES = "no pages are at hand"
NO_FACT = "the pages found state nothing about the topic or the prompt"


@dataclass(frozen=True)
class RecallChecker:
    """Asks responses for key facts.

    Attributes:
        retriever: finds passages for the topic and the prompt.
        embedder: says how near a fact is to these; None for shared words.
        most: how many facts a response is asked for, the weightiest.
    """

    retriever: Retriever
    embedder: Embedder | None
    most: int

    async def check(self, response: Response, relate: Relate, observe: Callable[[str, int], None]) -> EvidenceRecall:
        """Says of each key fact what the response makes of it.

        Raises:
            LocalFactError: passages cannot be looked for, for a reason that concerns all responses.
        """
        subject = await asyncio.to_thread(subject_of, response)
        asked = list(dict.fromkeys(text for text in (subject, response.prompt) if text and text.strip()))
        if not asked:
            return EvidenceRecall(score=None, reason=NOTHING_ASKED)
        try:
            claims = [Claim(id=f"key-{number}", text=text) for number, text in enumerate(asked)]
            evidence = await self.retriever.retrieve(response, claims)
        except MissingError:  # the response brings no pages, and there are no others: its verdicts may not need any
            return EvidenceRecall(score=None, reason=NO_PAGES)
        if evidence.failures and not evidence.passages:
            return EvidenceRecall(score=None, reason=next(iter(evidence.failures.values())))
        counts, merged = await asyncio.to_thread(self._find_facts, evidence, subject, asked)
        counts |= {"passages": len(evidence.passages), "left_out": max(0, len(merged) - self.most)}
        if not merged:
            return EvidenceRecall(score=None, reason=NO_FACT, counts=counts)
        kept = merged[: self.most]
        observe("key_facts", len(kept))
        questions = [AskedFact(fact.text, subject, response.text) for fact in kept]
        pairs = await asyncio.to_thread(lambda: [question.pair for question in questions])
        said = await relate(list(dict.fromkeys(pairs)))
        facts = await asyncio.to_thread(
            lambda: [_describe(fact, question, said[pair]) for fact, question, pair in zip(kept, questions, pairs, strict=True)]
        )
        verdicts = Counter(fact.verdict for fact in facts)
        counts |= {"pairs": len(said), **{verdict.value: verdicts[verdict] for verdict in FactVerdict}}
        return EvidenceRecall(score=weigh(facts), facts=tuple(facts), counts=counts)

    def _find_facts(self, evidence: Evidence, subject: str, asked: Sequence[str]) -> tuple[dict[str, int], list[MergedFact]]:
        """How many claims the pages make, how many others are unclear alone, and the facts that come of the first."""
        unclear = Counter[str]()
        found = facts_of(evidence.passages, subject, unclear)
        return {"claims_of_pages": len(found), **unclear}, merge_facts(found, asked, self.embedder)


def weigh(facts: Sequence[KeyFact]) -> float | None:
    """R@E: the share of the weight of the facts that are said, of those that could be asked; None where none could be."""
    counted = [fact for fact in facts if fact.verdict in COUNTS_AS]
    total = sum(fact.weight for fact in counted)
    return sum(fact.weight * COUNTS_AS[fact.verdict] for fact in counted) / total if total else None


def _describe(fact: MergedFact, question: AskedFact, said: Distribution | Failure) -> KeyFact:
    verdict, decider = judge_fact(question, said)
    sources = {
        (one.passage.id, one.span.start): FactSource(
            title=one.passage.title,
            link=next(iter(one.passage.links), None),
            host=one.passage.host,
            quote=one.passage.text[one.span.start : one.span.end],
        )
        for one in fact.found
    }
    entailment, contradiction = (said.entailment, said.contradiction) if isinstance(said, Distribution) else (None, None)
    return KeyFact(
        text=fact.text,
        verdict=verdict,
        found_by=decider,
        nearness=min(1.0, fact.nearness),
        hosts=fact.hosts,
        weight=fact.weight,
        sources=tuple(sources.values()),
        entailment=entailment,
        contradiction=contradiction,
        place=question.place if decider is not None else None,
    )
