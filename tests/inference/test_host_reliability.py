"""Reliability of hosts: what the rest bears out decides, a host does not bear itself out, and a copied text counts once."""

import pytest

from localfact.inference.trust import SourcedGraph, estimate_reliability, odds_by_the_rest
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

PRIORS = {"a": 0.9, "b": 0.9, "c": 0.9}
#: Nearly sure of all: steps from there are small, and no reason to stop.
SURE = dict.fromkeys("abc", 0.99)


def graph_of(*told: str) -> SourcedGraph:
    """ "a+1" is host a saying claim 1, "b-2" host b denying claim 2; "ab+1" a text of both."""
    relations = [
        Relation(
            source=f"{at} {one[:-2]}",
            target=one[-1],
            label=RelationLabel.ENTAILMENT if one[-2] == "+" else RelationLabel.CONTRADICTION,
            probability=0.9,
        )
        for at, one in enumerate(told)
    ]
    return SourcedGraph({"1": 0.5, "2": 0.5}, relations, {f"{at} {one[:-2]}": tuple(one[:-2]) for at, one in enumerate(told)})


def test_whoever_is_outvoted_again_and_again_sinks_and_a_single_time_hardly_counts() -> None:
    often = estimate_reliability([graph_of("a+1", "b+1", "c-1")] * 20, PRIORS).of
    surely = estimate_reliability([graph_of("a+1", "b+1", "c-1")] * 20, SURE).of
    once = estimate_reliability([graph_of("a+1", "b+1", "c-1")], PRIORS).of
    assert max(often["c"], surely["c"]) < 0.25
    assert min(often["a"], often["b"]) > 0.9
    assert 0.8 < once["c"] < 0.9


def test_an_isolated_claim_says_nothing_of_its_host() -> None:
    found = estimate_reliability([graph_of("a+1", "b-2")] * 20, PRIORS)
    assert found.of["a"] == pytest.approx(0.9)
    assert found.rounds == 1


def test_a_host_does_not_bear_itself_out() -> None:
    """Five pages of a against one of b: each of a's is held against b's alone."""
    many = graph_of("a+1", "a+1", "a+1", "a+1", "a+1", "b-1")
    alone = odds_by_the_rest(graph_of("a+1", "b-1"), PRIORS)["0 a"]
    assert odds_by_the_rest(many, PRIORS)["0 a"] == pytest.approx(alone)


def test_a_copied_text_is_one_passage_that_its_hosts_share() -> None:
    """It is borne out, and its hosts rise together as one passage would raise one of them."""
    copied = estimate_reliability([graph_of("ab+1", "c+1")], PRIORS, rounds=1).of
    single = estimate_reliability([graph_of("a+1", "c+1")], PRIORS, rounds=1).of
    assert copied["a"] == copied["b"]
    assert PRIORS["a"] < copied["a"] < single["a"]
