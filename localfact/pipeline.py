"""Takes one response through the stages: extract, retrieve, relate, assess.

Knows their protocols, not their implementations.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from localfact.assembling import assessment_of, begin_assessment, count_pairs, with_failures
from localfact.records import (
    Assessment,
    Claim,
    Distribution,
    Evidence,
    Failure,
    Judgement,
    Pair,
    Response,
    Span,
)
from localfact.runtime.usage import Ledger, Usage, usage_counted_in
from localfact.stages import (
    Assessor,
    CitationCheck,
    ClaimExtractor,
    ClaimRelations,
    ClaimRelator,
    Explainer,
    Flagger,
    PairInContext,
    Recalibrator,
    RecallCheck,
    RelationModel,
    Relations,
    Retriever,
    Review,
    Reviewer,
    without_evidence,
)

#: Called as (what, how many more): "claims", "pairs" (to relate) and "relations" whenever a stage of some response ends;
#: "claim_pairs" when it is known how many claims are compared with one another;
#: "searches", "pages" and "pages_failed" whenever the web answered; "prompt_tokens", "cached_tokens", "output_tokens" whenever
#: a language model did; by a run "words_to_do", and "words_begun" and "words_done" of its responses.
Observer = Callable[[str, int], None]


@dataclass
class Costs:
    """What the assessment of one response cost.

    Attributes:
        seconds: stage -> wall-clock seconds. They differ from run to run, so they are no part of an Assessment.
        ledger: the calls of a language model; the figures that every run repeats become part of the Assessment.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the wall-clock seconds of the enclosed block to stage `name`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def observe_usage(observe: Observer, usage: Usage) -> None:
    """Reports the tokens of one call of a language model to the observer."""
    for name in ("prompt_tokens", "cached_tokens", "output_tokens"):
        observe(name, getattr(usage, name))


def ignore_reports(what: str, number: int) -> None:
    """An observer that ignores all reports."""


class ResponseAssessor(Protocol):
    """Assesses responses: a `Pipeline` in this process, or the workers of a cluster."""

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        """Assesses one response; see `Pipeline.assess`."""
        ...


@dataclass(frozen=True)
class Pipeline:
    """One implementation of each stage. Whoever opened them closes them.

    Attributes:
        relation_model: None for an assessor that needs no pairs related.
        explainer: says what the verdicts hang on; None where relations decide nothing.
        flagger: says what a reader of them must know; None for nothing.
        reviewer: looks again at what the relation model says, before it decides anything; None for nobody.
        in_context: whether the relation model is shown the response that each hypothesis was taken from.
        with_titles: whether it is shown the title of a passage above its text.
        among_claims: relates claims to one another; None where nobody asked for it.
        keeps_coherence: whether the assessment says what it found.
        has_source: whether there are pages for responses that bring none. Without, such a response has its claims compared with
            one another, if that is kept, and no verdicts.
        citations: checks what the text cites; None where that is not asked.
        recall: asks the response for facts of the pages; None where that is not asked.
        recalibrator: adds what is known of a pair beforehand; None for nothing.
    """

    extractor: ClaimExtractor
    retriever: Retriever
    relation_model: RelationModel | None
    assessor: Assessor
    explainer: Explainer | None = None
    flagger: Flagger | None = None
    reviewer: Reviewer | None = None
    in_context: bool = False
    with_titles: bool = False
    among_claims: ClaimRelator | None = None
    keeps_coherence: bool = False
    has_source: bool = True
    citations: CitationCheck | None = None
    recall: RecallCheck | None = None
    recalibrator: Recalibrator | None = None

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        """Assesses `response`, the one at position `index` of the input; adds what it costs to `costs`.

        A response that cannot be used comes back as a failed Assessment with the reason.

        Raises:
            LocalFactError: it could not be assessed; some of these errors (something missing, a damaged corpus) concern all
                responses.
        """
        problem = response.problem
        if problem is None and self.citations is not None and response.sources is not None:
            problem = response.sources.problem
        if problem is not None:
            return failed_assessment(index, response, problem)
        costs.ledger.watch = partial(observe_usage, observe)
        costs.ledger.observe = observe
        with usage_counted_in(costs.ledger):
            assessment = await self._assess(index, response, costs, observe)
            if self.citations is not None:
                with costs.stage("cite"):
                    assessment = await self._check_citations(self.citations, response, assessment, observe)
            if self.recall is not None:
                with costs.stage("recall"):
                    assessment = await self._check_recall(self.recall, response, assessment, observe)
        return assessment.model_copy(update=cost_fields(costs))

    async def _assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        with costs.stage("extract"):
            extraction = await self.extractor.extract(response)
        observe("claims", len(extraction.claims))
        claims = extraction.claims
        if not claims:
            return assessment_of(index, response, extraction, Evidence(), Judgement())
        among = await self._compare_claims(response, claims, costs, observe)
        if among is not None and self.keeps_coherence and response.evidence is None and not self.has_source:
            alone = assessment_of(index, response, extraction, Evidence(), without_evidence(claims))
            return among.added_to(alone, kept=True)
        with costs.stage("retrieve"):
            searched = self.assessor.needs_evidence(claims)
            evidence = await self.retriever.retrieve(response, searched) if searched else Evidence()
        judged = [claim for claim in claims if claim.id not in evidence.failures]
        pairs = self.assessor.pairs(judged, evidence)
        observe("pairs", len(pairs))
        with costs.stage("relate"):
            relations, reviewed = await self._review(response, evidence, judged, await self._relate(response, evidence, pairs))
            if self.recalibrator is not None:
                relations = self.recalibrator.recalibrate(relations, judged, evidence)
        observe("relations", len(pairs))
        with costs.stage("assess"):
            known = {**among.relations, **relations} if among is not None else relations
            judgement = await self.assessor.assess(response, judged, evidence, known)
        if self.explainer is not None:
            with costs.stage("explain"):
                judgement = await self.explainer.explain(
                    judgement, judged, evidence, relations, partial(self._relate, response, evidence)
                )
        if self.flagger is not None:
            by_id = {claim.id: claim for claim in judged}
            judgement = await self.flagger.flag(response, by_id, judgement, evidence)
        judgement = with_failures(judgement, claims, evidence.failures)
        counts = {"retrieve": {"claims": len(searched)}, "relate": {**count_pairs(relations), **reviewed}}
        assessment = assessment_of(index, response, extraction, evidence, judgement, counts)
        return assessment if among is None else among.added_to(assessment, kept=self.keeps_coherence)

    async def _compare_claims(
        self, response: Response, claims: Sequence[Claim], costs: Costs, observe: Observer
    ) -> ClaimRelations | None:
        if self.among_claims is None:
            return None

        async def relate(pairs: Sequence[Pair]) -> Relations:
            observe("claim_pairs", len(pairs) // 2)
            return await self._relate(response, Evidence(), pairs)

        with costs.stage("compare claims"):
            return await self.among_claims.relate(response, claims, relate)

    async def _check_citations(
        self, checker: CitationCheck, response: Response, assessment: Assessment, observe: Observer
    ) -> Assessment:
        relate = partial(self._relate, response, Evidence())
        found = await checker.check(response, assessment.claims, relate, observe)
        counts = {**assessment.counts, "cite": found.counts}
        return assessment.model_copy(update={"citations": found, "counts": counts})

    async def _check_recall(
        self, checker: RecallCheck, response: Response, assessment: Assessment, observe: Observer
    ) -> Assessment:
        found = await checker.check(response, partial(self._relate, response, Evidence()), observe)
        return assessment.model_copy(update={"recall": found, "counts": {**assessment.counts, "recall": found.counts}})

    async def _review(self, response: Response, evidence: Evidence, claims: Sequence[Claim], relations: Relations) -> Review:
        if self.reviewer is None or not relations:
            return Review(relations, {})
        shown = self._shown(response, evidence, list(relations))
        review = await self.reviewer.review(claims, {shown[plain]: said for plain, said in relations.items()})
        return review._replace(relations={plain: review.relations[shown[plain]] for plain in relations})

    async def _relate(self, response: Response, evidence: Evidence, pairs: Sequence[Pair]) -> Relations:
        if not pairs:
            return {}
        if self.relation_model is None:
            raise AssertionError("an assessor that needs pairs related must be wired with a relation model")
        shown = self._shown(response, evidence, pairs)
        predicted = await self.relation_model.relate([shown[pair] for pair in pairs])
        return {
            plain: place_in_text(said, len(shown[plain].premise) - len(plain.premise))
            for plain, said in zip(pairs, predicted, strict=True)
        }

    def _shown(self, response: Response, evidence: Evidence, pairs: Sequence[Pair]) -> dict[Pair, Pair]:
        """Each pair -> what the relation model is shown of it: with the passage's title, and with the response as context."""
        titled = title_premises(pairs, evidence) if self.with_titles else {pair: pair for pair in pairs}
        return {pair: PairInContext(*one, response.text) for pair, one in titled.items()} if self.in_context else titled


def title_premises(pairs: Iterable[Pair], evidence: Evidence) -> dict[Pair, Pair]:
    """Each pair -> the pair with the title of its passage above the premise."""
    titles = {passage.text: f"{passage.title}\n" for passage in evidence.passages if passage.title}
    return {pair: Pair(titles.get(pair.premise, "") + pair.premise, pair.hypothesis) for pair in pairs}


def place_in_text(said: Distribution | Failure, title: int) -> Distribution | Failure:
    """The prediction with the place of what was read counted from the passage's text, not from a title of that length."""
    if not title or not isinstance(said, Distribution) or said.window is None:
        return said
    start, end = (max(0, place - title) for place in (said.window.start, said.window.end))
    return said.model_copy(update={"window": Span(start=start, end=end)})


def failed_assessment(index: int, response: Response, reason: str, costs: Costs | None = None) -> Assessment:
    """The assessment of a response that could not be assessed: its text, the reason, and what was sent for it."""
    spent = cost_fields(costs) if costs is not None else {}
    return begin_assessment(index, response).model_copy(update={"error": reason, **spent})


def cost_fields(costs: Costs) -> dict[str, Any]:
    """The fields of an assessment that say what was sent for it."""
    return {"usage": costs.ledger.repeatable(), "decided_by_window": costs.ledger.window}
