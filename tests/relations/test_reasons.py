"""What a verdict hangs on: the window read, the sentence whose loss changes most, and what was read of the undecided."""

from collections.abc import Sequence

import pytest

from localfact.records import (
    Claim,
    CountedPassage,
    Distribution,
    Evidence,
    Failure,
    Hit,
    Judgement,
    Pair,
    Passage,
    Span,
    Verdict,
)
from localfact.relations.reasons import LEFT_OUT, READ_NAMED, Reasons
from localfact.stages import Relations
from localfact.vocabulary import RelationLabel, VerdictLabel

CLAIM = Claim(id="a", text="Ada Lark painted the Oslo harbour.")
#: Its second sentence shares most words with the claim, and its third tells.
TEXT = "It was cold. Ada Lark never saw the Oslo harbour of old. She painted ships there. It was late."
DECIDING = "She painted ships there."
NEUTRAL = Distribution(entailment=0.1, contradiction=0.1, neutral=0.8)
ENTAILED = Distribution(entailment=0.9, contradiction=0.05, neutral=0.05)


class Model:
    """Entails the claim wherever the deciding sentence stands; keeps what it was asked."""

    def __init__(self, deciding: str = DECIDING) -> None:
        self.deciding = deciding
        self.asked: list[Pair] = []

    async def relate(self, pairs: Sequence[Pair]) -> Relations:
        self.asked += pairs
        return {pair: ENTAILED if self.deciding in pair.premise else NEUTRAL for pair in pairs}


def passage(name: str, text: str) -> Passage:
    return Passage(id=name, text=text)


async def reasons(
    model: Model,
    label: VerdictLabel,
    passages: Sequence[Passage],
    relations: Sequence[Distribution | Failure],
    *,
    counted: Sequence[CountedPassage] = (),
    by_loss: bool = True,
) -> tuple[CountedPassage, ...]:
    hits = {CLAIM.id: tuple(Hit(passage_id=one.id, rank=rank, score=1.0) for rank, one in enumerate(passages, start=1))}
    evidence = Evidence(passages=tuple(passages), hits=hits)
    judgement = Judgement(verdicts=(Verdict(claim_id=CLAIM.id, label=label, passages=tuple(counted)),))
    said = {Pair(one.text, CLAIM.text): prediction for one, prediction in zip(passages, relations, strict=True)}
    explained = await Reasons(by_loss=by_loss).explain(judgement, [CLAIM], evidence, said, model.relate)
    return explained.verdicts[0].passages


def entailing(name: str) -> CountedPassage:
    return CountedPassage(passage_id=name, relation=RelationLabel.ENTAILMENT, probability=0.9, shift=0.4)


def text_of(span: Span | None, text: str = TEXT) -> str | None:
    return None if span is None else text[span.start : span.end]


async def test_the_sentence_whose_loss_changes_the_prediction_most_is_recorded() -> None:
    model = Model()
    (found,) = await reasons(model, VerdictLabel.SUPPORTED, [passage("p", TEXT)], [ENTAILED], counted=[entailing("p")])
    assert (text_of(found.sentence), found.window) == (DECIDING, None)
    assert found.model_copy(update={"sentence": None}) == entailing("p")
    assert len(model.asked) == 1 + 4


async def test_the_sentence_that_only_names_the_subject_is_not_missed_below_a_title() -> None:
    class Naming(Model):
        """Entails where the painting is told of and somebody is named; less where the name is missing."""

        async def relate(self, pairs: Sequence[Pair]) -> Relations:
            self.asked += pairs
            weak = Distribution(entailment=0.4, contradiction=0.1, neutral=0.5)
            said = {}
            for pair in pairs:
                told, known = DECIDING in pair.premise, "Ada Lark" in pair.premise
                said[pair] = (ENTAILED if told else weak) if known else NEUTRAL
            return said

    for title, deciding in (("", "Ada Lark never saw the Oslo harbour of old."), ("Ada Lark", DECIDING)):
        page = passage("p", TEXT).model_copy(update={"title": title})
        (found,) = await reasons(Naming(), VerdictLabel.SUPPORTED, [page], [ENTAILED], counted=[entailing("p")])
        assert text_of(found.sentence) == deciding


async def test_it_is_looked_for_in_the_window_that_was_read() -> None:
    read = Span(start=TEXT.index("Ada"), end=len(TEXT))
    said = ENTAILED.model_copy(update={"windows": 2, "window": read})
    model = Model()
    (found,) = await reasons(model, VerdictLabel.SUPPORTED, [passage("p", TEXT)], [said], counted=[entailing("p")])
    assert (text_of(found.sentence), found.window) == (DECIDING, read)
    assert not any("It was cold." in pair.premise for pair in model.asked)


async def test_where_no_sentence_alone_decides_it_is_the_closest_one() -> None:
    (found,) = await reasons(
        Model(deciding=""), VerdictLabel.SUPPORTED, [passage("p", TEXT)], [ENTAILED], counted=[entailing("p")]
    )
    assert text_of(found.sentence) == "Ada Lark never saw the Oslo harbour of old."


async def test_a_dear_model_is_asked_nothing_more() -> None:
    model = Model()
    (found,) = await reasons(
        model, VerdictLabel.SUPPORTED, [passage("p", TEXT)], [ENTAILED], counted=[entailing("p")], by_loss=False
    )
    assert text_of(found.sentence) == "Ada Lark never saw the Oslo harbour of old."
    assert not model.asked


async def test_of_a_long_window_only_the_closest_sentences_are_left_out() -> None:
    text = " ".join(f"The {number} ships lay there." for number in range(3 * LEFT_OUT)) + " " + TEXT
    model = Model()
    (found,) = await reasons(model, VerdictLabel.SUPPORTED, [passage("p", text)], [ENTAILED], counted=[entailing("p")])
    assert len(model.asked) == 1 + LEFT_OUT
    assert text_of(found.sentence, text) == DECIDING


async def test_only_the_first_passage_on_each_side_is_asked_about() -> None:
    against = CountedPassage(passage_id="r", relation=RelationLabel.CONTRADICTION, probability=0.8, shift=-0.3)
    passages = [passage("p", TEXT), passage("q", TEXT + " Again."), passage("r", TEXT + " Never.")]
    model = Model()
    found = await reasons(
        model, VerdictLabel.CONFLICTING, passages, [ENTAILED] * 3, counted=[entailing("p"), entailing("q"), against]
    )
    assert {pair.premise for pair in model.asked if pair.premise in {one.text for one in passages}} == {
        passages[0].text,
        passages[2].text,
    }
    assert all(one.sentence is not None for one in found)


@pytest.mark.parametrize("label", [VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.UNDECIDED])
async def test_a_claim_that_nothing_decided_names_the_best_passages_that_were_read(label: VerdictLabel) -> None:
    passages = [passage(name, f"{name} {TEXT}") for name in "pqrst"]
    predictions = [NEUTRAL, Failure(reason="(NaN)"), NEUTRAL, NEUTRAL, NEUTRAL]
    model = Model()
    found = await reasons(model, label, passages, predictions)
    assert [one.passage_id for one in found] == ["p", "r", "s"][:READ_NAMED]
    assert {(one.relation, one.probability, one.shift) for one in found} == {(RelationLabel.NEUTRAL, 0.8, None)}
    assert text_of(found[0].sentence, passages[0].text) == "Ada Lark never saw the Oslo harbour of old."
    assert not model.asked


async def test_a_passage_that_entered_an_undecided_verdict_comes_first_and_once() -> None:
    passages = [passage(name, f"{name} {TEXT}") for name in "pqrs"]
    found = await reasons(
        Model(), VerdictLabel.UNDECIDED, passages, [NEUTRAL, ENTAILED, NEUTRAL, NEUTRAL], counted=[entailing("q")]
    )
    assert [one.passage_id for one in found] == ["q", "p", "r"]
    assert [one.shift for one in found] == [0.4, None, None]
