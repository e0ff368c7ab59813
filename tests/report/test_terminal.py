import io
import re
from collections import Counter

import pytest
from report_runs import TEXT, small_assessment
from rich.console import RenderableType
from run_builders import run_of

from localfact.records import Assessment, Claim, CountedPassage, Passage, Span, Verdict
from localfact.report.console import PlainConsole
from localfact.report.finding_view import findings_view
from localfact.report.findings import only_verdicts
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.report.terminal import (
    assessment_view,
    count_dropped_sentences,
    mark_text,
    passage_text,
    scores_table,
    summary_view,
)
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
        assert list(verdict.model_copy(update={"label": label}).speaking_passages) == shown
    one_sided = verdict.model_copy(update={"passages": (against, further)})
    assert one_sided.speaking_passages == (against,)
    assert verdict.model_copy(update={"passages": ()}).speaking_passages == ()


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
        count_dropped_sentences(Assessment(index=0, response_id="r", status="scored", counts=counts))
        == "2 table row, 1,000 heading"
    )
    assert count_dropped_sentences(Assessment(index=0, response_id="r", status="scored")) == ""


def shown(view: RenderableType, width: int = 80) -> str:
    """What stands in a file of so many columns."""
    console = PlainConsole()
    console.file, console.width = io.StringIO(), width
    console.print(view)
    return console.file.getvalue()


def test_the_text_has_number_and_verdict_of_each_claim_where_it_ends() -> None:
    said = " ".join(shown(mark_text(small_assessment())).split())
    assert said == (
        "Ada Lovelace was born in London in 1815[2✓].[1✓] She wrote notes on Babbage's engine. She died in Paris.[3✗]"
    )


def test_each_claim_stands_below_with_its_number_and_the_sentence_that_decided() -> None:
    said = " ".join(shown(assessment_view(small_assessment())).split())
    assert "Not found verbatim in the text: claim 4." in said
    assert "3 ✗ clearly contradicted 0.20 Ada Lovelace died in Paris." in said
    assert "She died in London." in said
    assert "4 ? not enough evidence Ada Lovelace was a countess." in said


def test_some_claims_alone_keep_their_numbers_and_leave_the_text_out() -> None:
    whole = small_assessment()
    said = " ".join(shown(assessment_view(only_verdicts(whole, [VerdictLabel.CONTRADICTED]), whole)).split())
    assert "3 ✗ clearly contradicted" in said
    assert "Babbage" not in said


def test_claims_of_a_run_are_in_one_order_over_all_its_responses() -> None:
    first = small_assessment()
    worse = [one.model_copy(update={"posterior": 0.05 if one.posterior == 0.2 else one.posterior}) for one in first.verdicts]
    second = first.model_copy(update={"index": 1, "response_id": "second", "verdicts": tuple(worse)})
    said = shown(findings_view([first, second]))
    assert said.index("second, claim 3") < said.index(f"{first.response_id}, claim 3")
    assert said.count("contradicted") == 2


def test_claims_without_places_show_no_text() -> None:
    made = small_assessment()
    without = made.model_copy(update={"claims": tuple(claim.model_copy(update={"spans": ()}) for claim in made.claims)})
    assert TEXT[:20] not in shown(assessment_view(without)).partition("✓ clearly")[0]


def test_the_widest_summary_fits_eighty_columns_with_every_name_and_interval_whole() -> None:
    run = [one.model_copy(update={"gold_supported": 3, "gold_not_supported": 2}) for one in run_of("SSC", "", "EU", "SSSC")]
    summary = summarise(run, RunFacts(method="factreasoner-fr2"), run="runs/0123456789ab")
    said = shown(summary_view(summary))
    assert max(map(len, said.splitlines())) <= 80
    for score in summary.scores:
        assert score.name in said
        assert score.ci is not None
        assert f"{score.ci[0]:.3f} - {score.ci[1]:.3f}" in said


@pytest.mark.parametrize("width", [48, 60])
def test_in_a_narrow_terminal_the_names_of_scores_give_way_and_no_number_is_cut(width: int) -> None:
    summary = summarise(run_of("SSC", "", "EU", "SSSC"), RunFacts(method="factreasoner-fr2"), run="runs/0123456789ab")
    numbers = [(one.value, one.sd, one.value_with_zeros, *(one.ci or (None,))) for one in summary.scores]
    whole = Counter(f"{one:.3f}" for of_one in numbers for one in of_one if one is not None)
    said = shown(scores_table(summary), width)
    assert Counter(re.findall(r"\b\d+\.\d{3}\b", said)) == whole
