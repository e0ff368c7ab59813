"""The sentence of a source that decides what it says of a sentence that cites it, as for the verdicts of claims."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from localfact.records import (
    Claim,
    CountedPassage,
    Distribution,
    Evidence,
    Judgement,
    Pair,
    Passage,
    Span,
    Verdict,
    passage_id,
)
from localfact.relations.reasons import below_title
from localfact.stages import Explainer, Relate
from localfact.text import closest_sentences
from localfact.vocabulary import RelationLabel, VerdictLabel

#: The most characters of a quote.
LONGEST_QUOTE = 600

_LABELS = {RelationLabel.ENTAILMENT: VerdictLabel.SUPPORTED, RelationLabel.CONTRADICTION: VerdictLabel.CONTRADICTED}


class ReadForSentence(NamedTuple):
    """What is read of a source, the sentence that cites it, and how the two relate."""

    title: str
    extract: str
    sentence: str
    relation: Distribution


class DecidingQuote(NamedTuple):
    """A sentence of a source; the value in it that decides, and the cited sentence's own; None where there is none."""

    quote: str | None = None
    value: str | None = None
    claimed: str | None = None


async def deciding_quotes(
    quoted: Sequence[ReadForSentence], explainer: Explainer | None, relate: Relate
) -> Mapping[tuple[str, str], DecidingQuote]:
    """Premise and sentence -> the sentence of the source that decides.

    Where the source entails or contradicts it, that is the one whose loss changes the relation most, as far as the explainer
    asks for that; else, and where it does not say it, the closest.
    """
    decided = [one for one in quoted if one.relation.label in _LABELS]
    explained = await _explain(decided, explainer, relate) if decided and explainer is not None else {}
    found = {}
    for one in quoted:
        counted = explained.get((one.extract, one.sentence))
        sentence = counted.sentence if counted is not None and counted.sentence is not None else _closest(one)
        value = counted.value if counted is not None else None
        claimed = counted.claimed if counted is not None else None
        key = below_title(one.title, one.extract), one.sentence
        found[key] = DecidingQuote(_cut(one.extract, sentence), _cut(one.extract, value), _cut(one.sentence, claimed))
    return found


def _closest(one: ReadForSentence) -> Span | None:
    return next(iter(closest_sentences(one.extract, one.sentence)), None)


def _cut(text: str, span: Span | None) -> str | None:
    return None if span is None else text[span.start : span.end][:LONGEST_QUOTE]


async def _explain(
    quoted: Sequence[ReadForSentence], explainer: Explainer, relate: Relate
) -> dict[tuple[str, str], CountedPassage]:
    """What an explainer of verdicts says of them: each sentence as a claim, what is read of the source as its passage."""
    unique = {(one.extract, one.sentence): one for one in quoted}
    passages = {one.extract: Passage(id=passage_id(one.extract), text=one.extract, title=one.title) for one in unique.values()}
    claims = [Claim(id=str(place), text=one.sentence) for place, one in enumerate(unique.values())]
    verdicts = [
        Verdict(
            claim_id=str(place),
            label=_LABELS[one.relation.label],
            passages=(
                CountedPassage(
                    passage_id=passages[one.extract].id, relation=one.relation.label, probability=one.relation.probability
                ),
            ),
        )
        for place, one in enumerate(unique.values())
    ]
    relations = {Pair(one.extract, one.sentence): one.relation.model_copy(update={"window": None}) for one in unique.values()}
    judgement = await explainer.explain(
        Judgement(verdicts=tuple(verdicts)), claims, Evidence(passages=tuple(passages.values())), relations, relate
    )
    return {key: verdict.passages[0] for key, verdict in zip(unique, judgement.verdicts, strict=True)}
