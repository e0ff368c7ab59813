from localfact.records import Assessment, Claim, CountedPassage, Passage, Span, Verdict
from localfact.report.terminal import dropped_sentences, passage_text, shown_passages
from localfact.vocabulary import RelationLabel, VerdictLabel


def test_the_passages_shown_speak_for_the_verdict_or_tell_what_was_read() -> None:
    against = CountedPassage(passage_id="a", relation=RelationLabel.CONTRADICTION, probability=0.9)
    further = CountedPassage(passage_id="d", relation=RelationLabel.CONTRADICTION, probability=0.8)
    speaking = CountedPassage(passage_id="b", relation=RelationLabel.ENTAILMENT, probability=0.8)
    verdict = Verdict(claim_id="c", label=VerdictLabel.SUPPORTED, passages=(against, further, speaking))
    for label, shown in (
        (VerdictLabel.SUPPORTED, [speaking]),
        (VerdictLabel.CONTRADICTED, [against]),
        (VerdictLabel.CONFLICTING, [speaking, against]),
        (VerdictLabel.UNDECIDED, [against, further, speaking]),
        (VerdictLabel.NOT_ENOUGH_EVIDENCE, [against, further, speaking]),
    ):
        assert shown_passages(verdict.model_copy(update={"label": label})) == shown
    one_sided = verdict.model_copy(update={"passages": (against, further)})
    assert shown_passages(one_sided) == [against]
    assert shown_passages(verdict.model_copy(update={"passages": ()})) == []


def test_a_passage_is_shown_with_its_relation_and_how_far_it_moves_the_posterior() -> None:
    passage = Passage(id="p", text="Ice floats.", links=("https://ice.example/",))
    claim = Claim(id="c", text="Ice floats on water.")
    counted = CountedPassage(passage_id="p", relation=RelationLabel.ENTAILMENT, probability=0.9, shift=-0.125)
    shown = passage_text(passage, claim, counted).plain
    assert shown == "entailment 0.90, moves it by -0.12  Ice floats.  [https://ice.example/]"
    assert passage_text(passage, claim, CountedPassage(passage_id="p")).plain == "Ice floats.  [https://ice.example/]"


def test_the_sentence_that_was_recorded_is_shown_with_its_place() -> None:
    passage = Passage(id="p", text="Ice floats on water. It is cold.", links=("https://ice.example/",))
    claim = Claim(id="c", text="Ice floats on water.")
    counted = CountedPassage(
        passage_id="p", relation=RelationLabel.ENTAILMENT, probability=0.9, sentence=Span(start=21, end=32)
    )
    shown = passage_text(passage, claim, counted).plain
    assert shown == "entailment 0.90  It is cold.  [https://ice.example/, at character 21 of 32]"


def test_what_was_no_claim_is_told_by_reason() -> None:
    counts = {"extract": {"claims": 1, "dropped_table_row": 2, "dropped_heading": 1_000}}
    assert (
        dropped_sentences(Assessment(index=0, response_id="r", status="scored", counts=counts)) == "2 table row, 1,000 heading"
    )
    assert dropped_sentences(Assessment(index=0, response_id="r", status="scored")) == ""
