"""The responses of a run as the report's script reads them: an index of all, and for each the data that opening it shows.

Texts are as `rendering.show` has them, and places in them are counted as the script counts.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from localfact.records import (
    Assessment,
    Claim,
    ClaimPlace,
    Coherence,
    CountedPassage,
    Distribution,
    Pair,
    Passage,
    PreVerification,
    Relation,
    RelationProbabilities,
    Span,
    Verdict,
)
from localfact.report.findings import leading_passage, many, too_weak, without_flags
from localfact.report.marked_text import pieces, quote
from localfact.report.page.cards import split_claim
from localfact.report.page.citations import citations_data, colour_of, mark_places
from localfact.report.page.recall import recall_data
from localfact.report.page.rendering import is_web_address, place_shown, show
from localfact.report.whose_pages import tell_provider
from localfact.scoring.tally import precision_annotated, tally
from localfact.vocabulary import Flag, VerdictLabel

#: The verdict that a posterior gives beside relations with the claim: the rule of the run's method.
Decide = Callable[[Claim, float, Sequence[Relation]], VerdictLabel]


def index_entry(assessment: Assessment, common: Collection[Flag], sources: dict[str, int]) -> dict[str, Any]:
    """What the list of texts shows of one, sorts and filters by, and searches: its claims with verdict, flags and sources.

    Args:
        common: flags that mark no claim of the run.
        sources: host, or title where that is not known -> its number; those of this response are added.
    """
    hosts = {passage.id: passage.host or passage.title for passage in assessment.passages}

    def sources_of(verdict: Verdict) -> list[int]:
        named = dict.fromkeys(show(hosts.get(one.passage_id, "")) for one in verdict.passages)
        return [sources.setdefault(name, len(sources)) for name in named if name]

    counts = tally(assessment)
    judged = counts.supported + counts.not_supported
    return {
        "id": show(assessment.response_id),
        "about": show(assessment.prompt or assessment.topic or ""),
        "status": assessment.status,
        "precision": counts.supported / judged if judged else None,
        "annotated": precision_annotated(assessment),
        "claims": [
            [
                show(claim.text),
                verdict.label.value,
                verdict.posterior,
                [flag.value for flag in without_flags(verdict, common)],
                sources_of(verdict),
            ]
            for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True)
        ],
    }


def response_data(
    assessment: Assessment,
    distributions: Mapping[Pair, Sequence[Distribution]],
    seconds: Mapping[str, float],
    decide: Decide,
    correction: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that the page shows of one response.

    Args:
        distributions: of passage and claim, by each model that was asked: the one that counted is shown. Where it is not known,
            a relation has its label's probability alone.
        seconds: stage -> how long it took.
        decide: what the verdict would be without a passage.
        correction: its row in the run's file of corrections; None where it was not corrected.
    """
    corrected = dict(correction_of_claims(correction or {}))
    place = {passage.id: number for number, passage in enumerate(assessment.passages)}
    number = {claim.id: index for index, claim in enumerate(assessment.claims)}
    marks, claims = mark_places(assessment.citations), len(assessment.claims)
    parts = pieces(assessment.text, [*(claim.spans for claim in assessment.claims), *((mark,) for mark, _, _ in marks)])
    placed = {claim for part in parts for claim in part.claims}
    cited = {
        claims + place: [sentence, colour_of(verdict), verdict.value.replace("_", " ")]
        for place, (_, sentence, verdict) in enumerate(marks)
    }
    judged = zip(assessment.claims, assessment.verdicts, strict=True)
    return {
        "facts": dict(_facts(assessment)),
        "error": show(assessment.error or ""),
        "text": [
            [
                show(part.text),
                [one for one in part.claims if one < claims],
                [one for one in part.ends if one < claims],
                *[cited[one] for one in part.claims if one >= claims][:1],
            ]
            for part in parts
        ],
        **({"citations": citations_data(assessment)} if assessment.citations is not None else {}),
        "claims": [
            {
                "placed": number[claim.id] in placed,
                "gold": claim.gold.value if claim.gold is not None else None,
                "way": [show(step) for step in way(claim, verdict)],
                "before": _before(claim.preverification),
                "correction": corrected.get(claim.id),
                "said": _quote(assessment, claim, verdict, place),
                "passages": [
                    _describe_passage(claim, one, assessment.passages[place[one.passage_id]], distributions)
                    | {"passage": place[one.passage_id], "without": _without(claim, verdict, one, assessment.relations, decide)}
                    for one in verdict.passages
                    if one.passage_id in place
                ],
            }
            for claim, verdict in judged
        ],
        "passages": [_passage(passage) for passage in assessment.passages],
        "relations": [
            [source, target, relation.label.value, relation.probability]
            for relation in assessment.relations
            if (source := _end(relation.source, number, place)) and (target := _end(relation.target, number, place))
        ],
        **({} if assessment.coherence is None else {"coherence": coherence_data(assessment.coherence, number)}),
        **({} if assessment.recall is None else {"recall": recall_data(assessment.recall, assessment.text)}),
        "notes": [show(note) for note in notes(assessment)],
        "unparsed": [show(line) for line in assessment.unparsed],
        "seconds": dict(seconds),
    }


def coherence_data(found: Coherence, number: Mapping[str, int]) -> dict[str, Any]:
    """What the page shows of the claims beside one another: both sides of each contradiction, by their claims' numbers."""
    return {
        "score": found.score,
        "pairs": found.pairs,
        "contradictions": [
            {
                "sides": [_side(side, number) for side in (one.first, one.second)],
                "probability": one.probability,
                "reason": show(one.reason),
            }
            for one in found.contradictions
        ],
    }


def _side(side: ClaimPlace, number: Mapping[str, int]) -> list[Any]:
    """A claim's number, from 0, and its text with the value that differs marked."""
    return [number[side.claim_id], [[show(text), differs] for text, differs in split_claim(side.text, side.value)]]


def correction_of_claims(row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id of each claim that a row of corrections speaks of, and what its card shows: the edit, or why there is none."""
    for edit in row.get("edits", ()):
        source = edit["source"]
        said = {name: show(edit[name]) for name in ("old", "new")}
        after = None if edit["after"] is None else round(edit["after"], 4)
        link = source["url"] and [show(source["url"]), is_web_address(source["url"])]
        shown = {**said, "after": after, "quote": show(source["quote"]), "title": show(source["title"]), "link": link}
        yield from ((claim, shown) for claim in edit["claims"])
    yield from ((one["claim"], {"left": show(one["reason"])}) for one in row.get("left", ()))


def _quote(assessment: Assessment, claim: Claim, verdict: Verdict, place: Mapping[str, int]) -> dict[str, Any] | None:
    """What a card shows of the passage that leads to a verdict; None without any."""
    counted, passage = leading_passage(assessment, verdict)
    if counted is None or passage is None:
        return None
    said = quote(claim, counted, passage, search=False)
    return {
        "passage": place[passage.id],
        "page": [[show(text), differs] for text, differs in said.pieces],
        "claimed": _place(claim.text, said.claimed),
    }


def way(claim: Claim, verdict: Verdict) -> Iterator[str]:
    """How the verdict on a claim came about, from the text on: one sentence for each step."""
    if claim.original is not None and claim.original != claim.text:
        yield f"Reworded so that it can be understood on its own; the text says “{claim.original}”."
    before = claim.preverification
    if before is not None:
        mass = f"; the six labels together had {before.mass:.2f}" if before.mass is not None else ""
        yield f"Before any evidence, the model labelled it {before.label.value} with confidence {before.confidence:.2f}{mass}."
    if any(one.relation is None for one in verdict.passages):
        yield f"The model decided after reading the claim with {many(len(verdict.passages), 'passage')}."
    if verdict.rationale:
        yield f"{verdict.rationale[0].upper()}{verdict.rationale[1:]}"


def notes(assessment: Assessment) -> Iterator[str]:
    """What a reader of the response should know: warnings, and how many sentences were passed over."""
    yield from assessment.warnings
    for name, count in assessment.counts.get("extract", {}).items():
        if name.startswith("dropped_") and count:
            yield f"{many(count, 'sentence')} passed over as no claim: {name.removeprefix('dropped_').replace('_', ' ')}."


def _facts(assessment: Assessment) -> Iterator[tuple[str, str]]:
    facts = {
        "prompt": assessment.prompt,
        "topic": assessment.topic,
        "written by": assessment.model,
        "from": assessment.source,
    }
    yield from ((name, show(value)) for name, value in facts.items() if value)


def _before(before: PreVerification | None) -> dict[str, float] | None:
    """The extractor's probabilities of its six labels, where they were asked for."""
    if before is None or before.distribution is None:
        return None
    return {label.value: probability for label, probability in before.distribution.items()}


def _describe_passage(
    claim: Claim, counted: CountedPassage, passage: Passage, distributions: Mapping[Pair, Sequence[Distribution]]
) -> dict[str, Any]:
    """A passage of a verdict: its relation, and the places that decided."""
    if counted.predicted is not None:
        return _describe_relation(counted, passage, counted.predicted)
    kept = distributions.get(Pair(passage.text, claim.text), ())
    said = next((one for one in kept if (one.label, one.probability) == (counted.relation, counted.probability)), None)
    return _describe_relation(counted, passage, said)


def _describe_relation(counted: CountedPassage, passage: Passage, said: RelationProbabilities | None) -> dict[str, Any]:
    return {
        "relation": counted.relation.value if counted.relation is not None else None,
        "probability": counted.probability,
        "distribution": _three(said),
        "raw": _three(counted.raw),
        "shift": counted.shift,
        "weak": too_weak(counted),
        "window": _place(passage.text, counted.window),
        "sentence": _place(passage.text, counted.sentence),
        "value": _place(passage.text, counted.value),
    }


def _three(said: RelationProbabilities | None) -> list[float] | None:
    return None if said is None else [said.entailment, said.neutral, said.contradiction]


def _without(
    claim: Claim, verdict: Verdict, counted: CountedPassage, relations: Sequence[Relation], decide: Decide
) -> tuple[float, str] | None:
    """Posterior and verdict as they would be without the passage; None where no graph decided."""
    if counted.shift is None or verdict.posterior is None:
        return None
    posterior = min(1.0, max(0.0, verdict.posterior - counted.shift))
    left = [one for one in relations if one.target == verdict.claim_id and one.source != counted.passage_id]
    return posterior, decide(claim, posterior, left).value


def _place(text: str, span: Span | None) -> list[int] | None:
    return None if span is None else [place_shown(text, span.start), place_shown(text, span.end)]


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "title": show(passage.title),
        "host": show(passage.host or ""),
        "date": show(passage.date or ""),
        "from": show(tell_provider(passage)),
        "links": [[show(link), is_web_address(link)] for link in passage.links],
        "text": show(passage.text),
    }


def _end(end: str, number: Mapping[str, int], place: Mapping[str, int]) -> list[Any] | None:
    """An end of a relation: whether it is a claim or a passage, and which; None for one that is neither here."""
    if end in number:
        return ["claim", number[end]]
    return ["passage", place[end]] if end in place else None
