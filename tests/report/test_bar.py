"""The bar of a run: which bounds there are, and on which side of them a run passes."""

import pytest
from run_builders import assessment, run_of

from localfact.errors import InputError
from localfact.records import Assessment, Citations, EvidenceRecall
from localfact.report.bar import AT_LEAST, AT_MOST, BOUNDS_HELP, UNSCORED, VERDICTS, hold, measured_of, parse_bounds
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.scoring import standard_scores


def passed(text: str, run: list[Assessment]) -> list[bool]:
    return [one.passed for one in hold(parse_bounds(text), measured_of(run))]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("precision=0.75", [True]),
        ("precision=0.76", [False]),
        ("contradicted=1", [True]),
        ("contradicted=0, precision=0.5", [False, True]),
        ("supported=3,not-enough-evidence=0", [True, True]),
        ("supported=4", [False]),
        ("f1=0.5,recall_prime=0.5", [True, True]),
        ("abstained=0,unscored=0", [False, True]),
        ("gold-f1=0,entropy=1", [False, False]),  # there is neither annotation nor posterior
        ("failed=0", [True]),
    ],
)
def test_a_bound_is_held_against_the_mean_over_responses_or_the_sum_of_claims(bounds: str, expected: list[bool]) -> None:
    assert passed(bounds, run_of("SS", "SC", "")) == expected


def test_failed_bounds_claims_and_whole_responses() -> None:
    run = [*run_of("SF", "S"), assessment("", index=2, failed=True)]
    for found in (run, summarise(run, RunFacts(method="builtin-fr2"))):
        held = hold(parse_bounds("failed=1"), measured_of(found)) + hold(parse_bounds("failed=2"), measured_of(found))
        assert [one.passed for one in held] == [False, True]


@pytest.mark.parametrize("run", [run_of("", ""), run_of("IV"), [assessment("SS", failed=True)]])
@pytest.mark.parametrize("bounds", ["precision=0", "contradicted=0", "abstained=9"])
def test_nothing_passes_where_no_response_was_scored(bounds: str, run: list[Assessment]) -> None:
    (held,) = hold(parse_bounds(bounds), measured_of(run))
    assert not held.passed
    assert "no value" in held.said or "nothing is shown" in held.said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("precison=0.8", "cannot bound 'precison'.*precision, recall.*contradicted, conflicting.*abstained"),
        ("precision=80", "precision is a number from 0 to 1"),
        ("precision=nan", "precision is a number from 0 to 1"),
        ("precision", "precision without a number"),
        ("contradicted=0.5", "contradicted is a whole number"),
        ("contradicted=-1", "contradicted is a whole number"),
        ("precision=0.5,precision=0.6", "bounds precision twice"),
        (" , ", "names no bound"),
        ("precision=0,8, contradicted=0", "write precision=0.8, contradicted=0"),
    ],
)
def test_what_cannot_be_a_bound_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_bounds(text)


def test_every_score_that_a_run_prints_can_be_bounded_and_is_named_by_the_help() -> None:
    cited = Citations(recall=0.5, precision=1.0)
    beside = {"citations": cited, "recall": EvidenceRecall(score=0.5)}
    run = [assessment("SC", posteriors=(0.9, 0.2), gold="sn").model_copy(update=beside)]
    printed = [str(score) for score in standard_scores(run)]
    begins = {**AT_LEAST, **AT_MOST}.values()
    assert [name for name in printed if not name.startswith(tuple(begins))] == ["#S", "#C", "#U"]
    assert all(any(name.startswith(begin) for name in printed) for begin in begins)
    assert all(name in BOUNDS_HELP for name in (*AT_LEAST, *AT_MOST, *VERDICTS, *UNSCORED))


def test_a_summary_is_measured_as_its_responses_are() -> None:
    run = run_of("SSC", "SV", "", "F")
    of_summary, of_run = measured_of(summarise(run, RunFacts(method="builtin-fr2"))), measured_of(run)
    bounds = parse_bounds("precision=0.8,contradicted=0,failed=0,abstained=1,unscored=1")
    assert hold(bounds, of_summary) == hold(bounds, of_run)


def test_a_value_is_told_apart_from_a_limit_that_it_nearly_reaches() -> None:
    (held,) = hold(parse_bounds("precision=0.667"), measured_of(run_of("SSC")))
    assert held.said.startswith("precision is 0.6666666666666666, and should be at least 0.667")
