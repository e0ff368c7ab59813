from localfact.records import Claim, CountedPassage, Passage, Verdict
from localfact.report.terminal import closest_sentence, passage_text, strongest_passage
from localfact.vocabulary import RelationLabel, VerdictLabel


def test_the_sentence_shown_shares_what_is_rare_in_its_passage() -> None:
    text = "Ada Lark was a sailor. Ada Lark was a painter in Oslo. The war ended in 1814. Ada Lark was tall."
    assert closest_sentence(text, "Ada Lark was tall in 1814.") in {"The war ended in 1814.", "Ada Lark was tall."}
    assert closest_sentence(text, "Ada Lark was a painter.") == "Ada Lark was a painter in Oslo."
    # By shared words alone the first sentence would win: Ada, Lark, was, a.
    assert closest_sentence(text, "Ada Lark was a child when it ended, in 1814.") == "The war ended in 1814."
    assert closest_sentence("", "anything") == ""


def test_the_passage_shown_speaks_for_the_verdict_where_one_does() -> None:
    against = CountedPassage(passage_id="a", relation=RelationLabel.CONTRADICTION, probability=0.9)
    speaking = CountedPassage(passage_id="b", relation=RelationLabel.ENTAILMENT, probability=0.8)
    supported = Verdict(claim_id="c", label=VerdictLabel.SUPPORTED, passages=(against, speaking))
    assert strongest_passage(supported) == speaking
    assert strongest_passage(supported.model_copy(update={"label": VerdictLabel.UNDECIDED})) == against
    assert strongest_passage(supported.model_copy(update={"passages": ()})) is None


def test_a_passage_is_shown_with_its_relation_and_how_far_it_moves_the_posterior() -> None:
    passage = Passage(id="p", text="Ice floats.", links=("https://ice.example/",))
    claim = Claim(id="c", text="Ice floats on water.")
    counted = CountedPassage(passage_id="p", relation=RelationLabel.ENTAILMENT, probability=0.9, shift=-0.125)
    shown = passage_text(passage, claim, counted).plain
    assert shown == "entailment 0.90, moves it by -0.12  Ice floats.  [https://ice.example/]"
    assert passage_text(passage, claim, CountedPassage(passage_id="p")).plain == "Ice floats.  [https://ice.example/]"
