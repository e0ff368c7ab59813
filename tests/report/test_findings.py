"""What a run found, in the order and the words of its page and its terminal."""

import pytest
from report_runs import small_assessment
from run_builders import run_of

from localfact.records import Claim, CountedPassage, Passage, Span, Verdict
from localfact.report.findings import (
    common_flags,
    find_claims,
    headline,
    how_clearly,
    tell_annotators,
    tell_common_flags,
    too_weak,
)
from localfact.report.marked_text import quote
from localfact.report.run_figures import RunFacts
from localfact.report.summary import Summary, summarise
from localfact.report.whose_pages import tell_pages
from localfact.vocabulary import Flag, GoldLabel, RelationLabel, VerdictLabel

AGAINST = RelationLabel.CONTRADICTION


def summary_of(*runs: str, **changed: object) -> Summary:
    return summarise(run_of(*runs), RunFacts(method="made")).model_copy(update=changed)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (("SSC", "EUCI"), "2 of 7 claims are contradicted by any page; 2 could not be checked."),
        (("C",), "1 of 1 claim is contradicted by any page; all could be checked."),
        (("SE",), "None of 2 claims is contradicted by any page; 1 could not be checked."),
        (("", ""), "No claim was found in 2 texts."),
    ],
)
def test_a_run_is_told_in_a_sentence(runs: tuple[str, ...], said: str) -> None:
    assert headline(summary_of(*runs)) == said


@pytest.mark.parametrize(
    ("providers", "of_sample", "said"),
    [
        (["local"], False, "your pages"),
        (["local", ""], True, "the sample's pages"),
        (["wikipedia"], False, "the web pages found"),
        (["input"], False, "the passages that came with the texts"),
        (["input", "local"], False, "your pages and the passages that came with the texts"),
        ([], False, "any page"),
    ],
)
def test_it_is_said_whose_pages_they_are(providers: list[str], of_sample: bool, said: str) -> None:
    passages = tuple(Passage(id=name, text="A page.", provider=name) for name in providers)
    (made,) = run_of("C")
    assert tell_pages([made.model_copy(update={"passages": passages})], of_sample) == said


def test_a_flag_that_most_claims_could_and_do_carry_is_said_once() -> None:
    decided = {"flags": {"partly_read": 11, "single_source": 10, "unclear_subject": 12}}
    assert common_flags(summary_of("S" * 20 + "E" * 10, **decided)) == {Flag.PARTLY_READ}
    (said,) = tell_common_flags(summary_of("S" * 20 + "E" * 10, **decided))
    assert "so for 11 of 20 decided claims" in said
    assert common_flags(summary_of("S" * 9, flags={"partly_read": 9})) == frozenset()  # too few to tell


def test_the_least_likely_claims_of_the_whole_run_come_first() -> None:
    def judged(index: int, posterior: float | None) -> object:
        made = small_assessment(index, str(index))
        verdicts = [one.model_copy(update={"posterior": posterior}) for one in made.verdicts]
        return made.model_copy(update={"verdicts": tuple(verdicts)})

    run = [judged(0, 0.44), judged(1, None), judged(2, 0.09)]
    assert [found.assessment.index for found in find_claims(run, [VerdictLabel.CONTRADICTED])] == [2, 0, 1]


def test_how_many_contradicted_claims_annotators_bear_out_is_told_where_they_labelled_some() -> None:
    (made,) = run_of("CCSCC")
    golds = [GoldLabel.NOT_SUPPORTED, GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED, None, GoldLabel.IRRELEVANT]
    claims = tuple(claim.model_copy(update={"gold": gold}) for claim, gold in zip(made.claims, golds, strict=True))
    (said,) = tell_annotators([made.model_copy(update={"claims": claims})])
    assert said == "Annotators labelled 2 of the contradicted claims, and call 1 of them not supported."
    assert tell_annotators([made]) == []


def test_weak_and_clear_verdicts_differ_in_words() -> None:
    said = [how_clearly(VerdictLabel.CONTRADICTED, posterior) for posterior in (0.09, 0.25, 0.44, None)]
    assert said == ["clearly contradicted", "clearly contradicted", "weakly contradicted", "contradicted"]
    assert how_clearly(VerdictLabel.NOT_ENOUGH_EVIDENCE, 0.5) == "not enough evidence"


def test_a_relation_that_enters_no_graph_is_too_weak() -> None:
    counted = CountedPassage(passage_id="p", relation=AGAINST, probability=0.4996)
    assert too_weak(counted) == "too weak to count: 0.49 of 0.50 needed"
    assert too_weak(counted.model_copy(update={"shift": -0.1})) == ""
    assert too_weak(counted.model_copy(update={"probability": 0.51})) == ""
    assert too_weak(counted.model_copy(update={"relation": RelationLabel.NEUTRAL})) == ""


@pytest.mark.parametrize(
    ("claim", "page", "differ"),
    [
        ("The town was taken by the Third Army.", "In May the Fourth Army took the town.", ("Third", "Fourth")),
        ("She won the prize for Physics.", "She was given the prize for Chemistry in 1950.", ("Physics", "Chemistry")),
        ("It has 1,200 rooms.", "The house has 1200 rooms.", None),
        ("It has 1,200 rooms.", "The house has 900 rooms.", ("1,200", "900")),
        ("She was born in May.", "Her brother lived in Oslo.", None),
    ],
)
def test_what_differs_is_marked_where_it_is_plain(claim: str, page: str, differ: tuple[str, str] | None) -> None:
    counted = CountedPassage(passage_id="p", relation=AGAINST, probability=0.9, sentence=Span(start=0, end=len(page)))
    said, claimed = quote(Claim(id="c", text=claim), counted, Passage(id="p", text=page))
    assert "".join(text for text, _ in said) == page
    marked = [text for text, differs in said if differs]
    assert (claimed and (claim[claimed.start : claimed.end], *marked)) == differ


def test_the_value_that_decided_is_what_differs_and_a_long_sentence_is_cut_around_it() -> None:
    page = f"{'Long before it. ' * 40}It opened in 1911, {'and so on ' * 60}"
    place = page.index("1911")
    counted = CountedPassage(
        passage_id="p",
        relation=AGAINST,
        probability=0.9,
        sentence=Span(start=0, end=len(page)),
        value=Span(start=place, end=place + 4),
        claimed=Span(start=13, end=17),
    )
    said, claimed = quote(Claim(id="c", text="It opened in 1921."), counted, Passage(id="p", text=page))
    assert said[1] == ("1911", True)
    assert claimed == Span(start=13, end=17)
    assert sum(len(text) for text, _ in said) < 450


def test_a_verdict_without_a_passage_is_a_finding_too() -> None:
    made = small_assessment()
    bare = Verdict(claim_id="c3", label=VerdictLabel.CONTRADICTED)
    (found,) = find_claims([made.model_copy(update={"claims": made.claims[2:3], "verdicts": (bare,)})], [bare.label])
    assert (found.number, found.counted, found.passage) == (0, None, None)
