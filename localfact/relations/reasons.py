"""Why a verdict is what it is, in the passages' own words: what was read of them, and the sentence that the relation hangs on.

That is the sentence whose loss changes the prediction most (leave one out). The sentence that shares most words with a claim is
often another one, and read alone often says something else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from localfact.records import (
    Claim,
    CountedPassage,
    Distribution,
    Evidence,
    Judgement,
    Pair,
    Passage,
    RelationProbabilities,
    Span,
    Verdict,
)
from localfact.relations.values.correcting import finding_of
from localfact.relations.values.judging import Ruling
from localfact.stages import Relate, Relations
from localfact.text import closest_sentences, readable
from localfact.vocabulary import RelationLabel, VerdictLabel

#: The most sentences of what was read that are left out, one at a time: those that share most words with the claim.
LEFT_OUT = 8
#: A relation hangs on no sentence alone where the loss of each changes its probabilities by less (total variation).
LEAST_CHANGE = 0.05
#: How many of the passages that were read are named for a claim that nothing decided.
READ_NAMED = 3
#: The relation that values of that ruling speak for.
SPEAKS_FOR = {Ruling.SAME: RelationLabel.ENTAILMENT, Ruling.OTHER: RelationLabel.CONTRADICTION}
#: The relations that speak for a verdict.
SPEAKS_AS = {
    VerdictLabel.SUPPORTED: (RelationLabel.ENTAILMENT,),
    VerdictLabel.CONTRADICTED: (RelationLabel.CONTRADICTION,),
    VerdictLabel.CONFLICTING: (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION),
}
UNDECIDED = (VerdictLabel.UNDECIDED, VerdictLabel.NOT_ENOUGH_EVIDENCE)


def below_title(title: str, text: str) -> str:
    """What is read of a page below its title, which often names what the text is about."""
    return f"{title}. {text}" if title else text


class _Question(NamedTuple):
    """What was read of a passage for a claim, and the sentences in it to leave out, as characters of the passage's text."""

    claim: Claim
    passage: Passage
    read: Span
    candidates: Sequence[Span]

    @property
    def whole(self) -> Pair:
        """The pair of what was read, below its title, and the claim.

        With the title, the sentence that names the subject is not missed for the name alone.
        """
        return self._below_title(self.passage.text[self.read.start : self.read.end])

    def without(self, sentence: Span) -> Pair:
        """The same without a sentence."""
        text = self.passage.text
        return self._below_title(text[self.read.start : sentence.start] + text[sentence.end : self.read.end])

    def _below_title(self, text: str) -> Pair:
        return Pair(below_title(self.passage.title, text), self.claim.text)

    @property
    def pairs(self) -> list[Pair]:
        """All pairs to relate."""
        return [self.whole, *map(self.without, self.candidates)] if len(self.candidates) > 1 else []

    def sentence(self, said: Relations) -> Span | None:
        """The candidate whose removal changes the relation most; the most similar one if none changes it enough."""
        known = said.get(self.whole)
        if not isinstance(known, Distribution):
            return next(iter(self.candidates), None)
        lost = {span: said[self.without(span)] for span in self.candidates}
        changes = {span: change(known, one) for span, one in lost.items() if isinstance(one, Distribution)}
        best = max(changes, key=lambda span: changes[span], default=None)
        return best if best is not None and changes[best] >= LEAST_CHANGE else next(iter(self.candidates), None)


@dataclass(frozen=True)
class Reasons:
    """The Explainer of verdicts that relations decided.

    Attributes:
        by_loss: whether the model is asked about each passage without a sentence, up to LEFT_OUT + 1 further pairs a verdict.
            Without, which is for a model that is dear, the sentence is the closest of what was read.
        shown_only: whether that is asked only of passages that a reader in a terminal sees: of one that speaks for its verdict.
    """

    by_loss: bool = True
    shown_only: bool = False

    async def explain(
        self,
        judgement: Judgement,
        claims: Sequence[Claim],
        evidence: Evidence,
        relations: Relations,
        relate: Relate,
    ) -> Judgement:
        """The judgement with the part read of each passage, and the deciding sentence of the first passage on each side.

        A claim that nothing decided gets the best passages that were read, with what was made of them: so what was not found
        can be told from what was misread.
        """
        known = {claim.id: claim for claim in claims}
        passages = {passage.id: passage for passage in evidence.passages}
        verdicts = [with_read(verdict, known[verdict.claim_id], evidence, relations) for verdict in judgement.verdicts]
        questions = {
            (claim, passage): self._question(known[claim], passages[passage], relations)
            for claim, passage in names_of(verdicts)
        }
        asked = [questions[verdict.claim_id, counted.passage_id] for verdict in verdicts for counted in self._to_ask(verdict)]
        said = await relate(list(dict.fromkeys(pair for question in asked for pair in question.pairs))) if self.by_loss else {}

        def explain_passage(verdict: Verdict, counted: CountedPassage) -> CountedPassage:
            question = questions.get((verdict.claim_id, counted.passage_id))
            if question is None:
                return counted
            whole = question.read.end - question.read.start >= len(question.passage.text.strip())
            window = None if whole else question.read
            found: dict[str, Any] = {"window": window, "sentence": question.sentence(said)} | deciding_value(question, counted)
            prediction = relations.get(Pair(question.passage.text, question.claim.text))
            if isinstance(prediction, Distribution) and prediction.raw is not None:
                found |= {"predicted": three_of(prediction), "raw": prediction.raw}
            return counted.model_copy(update=found)

        explained = [
            verdict.model_copy(update={"passages": tuple(explain_passage(verdict, counted) for counted in verdict.passages)})
            for verdict in verdicts
        ]
        return judgement.model_copy(update={"verdicts": tuple(explained)})

    def _to_ask(self, verdict: Verdict) -> Iterator[CountedPassage]:
        """The passages of a verdict about which the model is asked again, each time without one sentence."""
        for counted in leading_passages(verdict):
            if not self.shown_only or counted.relation in SPEAKS_AS.get(verdict.label, ()):
                yield counted

    @staticmethod
    def _question(claim: Claim, passage: Passage, relations: Relations) -> _Question:
        said = relations.get(Pair(passage.text, claim.text))
        window = said.window if isinstance(said, Distribution) else None
        read = window or Span(start=0, end=len(passage.text))
        closest = closest_sentences(passage.text[read.start : read.end], claim.text)[:LEFT_OUT]
        moved = [Span(start=span.start + read.start, end=span.end + read.start) for span in closest]
        return _Question(claim, passage, read, moved)


def deciding_value(question: _Question, counted: CountedPassage) -> dict[str, Any]:
    """The sentence whose value decides and the two values, where the values of passage and claim speak for the relation."""
    title = f"{question.passage.title}\n" if question.passage.title else ""  # whom "she" means may stand there alone
    found = finding_of(Pair(readable(title + question.passage.text), readable(question.claim.text)))
    if found.sentence is None or counted.relation is not SPEAKS_FOR.get(found.ruling) or found.sentence.start < len(title):
        return {}
    sentence, said = (
        Span(start=span.start - len(title), end=span.end - len(title)) if span else None
        for span in (found.sentence, found.said)
    )
    decides = {"sentence": sentence, "value": said, "claimed": found.claimed}
    inside = sentence is not None and question.read.start <= sentence.start and sentence.end <= question.read.end
    return decides if inside else decides | {"window": None}  # values are read in all of the passage


def names_of(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """The ids of each claim and of each passage that the verdicts name with a relation."""
    for verdict in verdicts:
        yield from ((verdict.claim_id, counted.passage_id) for counted in verdict.passages if counted.relation is not None)


def leading_passages(verdict: Verdict) -> Iterator[CountedPassage]:
    """The first of the verdict's passages on each side."""
    for side in (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION):
        yield from [counted for counted in verdict.passages if counted.relation is side][:1]


def with_read(verdict: Verdict, claim: Claim, evidence: Evidence, relations: Relations) -> Verdict:
    """A verdict that nothing decided with the best passages that were read for its claim; any other as it is."""
    if verdict.label not in UNDECIDED:
        return verdict
    texts: Mapping[str, str] = {passage.id: passage.text for passage in evidence.passages}
    listed = list(verdict.passages)
    for hit in evidence.hits.get(claim.id, ()):
        said = relations.get(Pair(texts[hit.passage_id], claim.text))
        if len(listed) >= READ_NAMED:
            break
        if isinstance(said, Distribution) and all(hit.passage_id != counted.passage_id for counted in listed):
            listed.append(CountedPassage(passage_id=hit.passage_id, relation=said.label, probability=said.probability))
    return verdict.model_copy(update={"passages": tuple(listed)})


def three_of(said: Distribution) -> RelationProbabilities:
    """The three probabilities of a prediction alone."""
    return RelationProbabilities(entailment=said.entailment, contradiction=said.contradiction, neutral=said.neutral)


def change(one: Distribution, other: Distribution) -> float:
    """The total variation between two predictions, in [0, 1]."""
    sides = (
        abs(one.entailment - other.entailment),
        abs(one.contradiction - other.contradiction),
        abs(one.neutral - other.neutral),
    )
    return sum(sides) / 2
