"""FactReasoner from claims, evidence and hand-made predictions to verdicts."""

import pytest
from by_hand import claim, contradicts, entails, evidence, judge, passage

from localfact.assess.factreasoner import FactReasoner
from localfact.errors import InputError
from localfact.records import Claim, Distribution, Evidence, Failure, Judgement, Pair
from localfact.vocabulary import RelationLabel, VerdictLabel

EXAMPLE_1 = {("c", "a1"): entails(0.8), ("d", "a1"): contradicts(0.9)}


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    ("tables", "posterior"), [("paper", 0.3178807947), ("priors", 0.3130495211), ("balanced", 0.3130495211)]
)
async def test_the_papers_example_1(version, tables, posterior):
    judgement = await judge(FactReasoner(version, tables=tables), [claim("a1")], evidence({"a1": "cd"}), EXAMPLE_1)
    (verdict,) = judgement.verdicts
    assert verdict.posterior == pytest.approx(posterior, abs=1e-10)
    assert verdict.label is VerdictLabel.CONTRADICTED
    assert [(each.passage_id, each.relation, each.probability) for each in verdict.passages] == [
        (passage("d").id, RelationLabel.CONTRADICTION, 0.9),
        (passage("c").id, RelationLabel.ENTAILMENT, 0.8),
    ]
    assert verdict.rationale == f"1 passage entails it, 1 contradicts it; posterior {posterior:.2f}"
    assert judgement.warnings == ()


async def test_the_papers_example_2_takes_a_third_passage_that_contradicts_the_second():
    # The paper does not give the third relation's probability; 0.985 gives the posterior that it prints.
    told = EXAMPLE_1 | {("e", "d"): contradicts(0.985)}
    judgement = await judge(FactReasoner(3), [claim("a1")], evidence({"a1": "cde"}), told)
    assert judgement.verdicts[0].posterior == pytest.approx(0.59, abs=0.005)
    assert judgement.verdicts[0].label is VerdictLabel.SUPPORTED
    assert judgement.counts["relations_contradiction"] == 2
    told[("e", "d")] = contradicts(0.9)
    assert (await judge(FactReasoner(3), [claim("a1")], evidence({"a1": "cde"}), told)).verdicts[0].posterior == pytest.approx(
        0.411595642763, abs=1e-10
    )
    # Version 2 does not look at pairs of passages.
    assert (await judge(FactReasoner(2), [claim("a1")], evidence({"a1": "cde"}), told)).verdicts[0].posterior == pytest.approx(
        0.3178807947, abs=1e-10
    )


def test_pairs_of_the_three_versions_contain_one_another_and_put_the_passage_first():
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "cd", "a2": "de"})
    one, two, three = (FactReasoner(version).pairs(claims, found) for version in (1, 2, 3))
    assert one == (
        Pair("passage c", "claim a1"),
        Pair("passage d", "claim a1"),
        Pair("passage d", "claim a2"),
        Pair("passage e", "claim a2"),
    )
    assert set(one) < set(two) < set(three)
    assert (len(two), len(three)) == (6, 12)
    assert Pair("passage c", "passage e") in three
    assert Pair("passage e", "passage c") in three


def test_equal_texts_are_asked_once():
    twins = [Claim(id="a1", text="same"), Claim(id="a2", text="same")]
    assert FactReasoner(2).pairs(twins, evidence({"a1": "c", "a2": "c"})) == (Pair("passage c", "same"),)
    assert FactReasoner(1).pairs([claim("a1")], evidence({"a1": "cc"})) == (Pair("passage c", "claim a1"),)


async def test_version_1_keeps_a_repeated_passage_as_a_variable_of_its_own():
    told = {("c", "a1"): entails(0.8)}
    once = await judge(FactReasoner(1, tables="balanced"), [claim("a1")], evidence({"a1": "c"}), told)
    twice = await judge(FactReasoner(1, tables="balanced"), [claim("a1")], evidence({"a1": "cc"}), told)
    assert twice.verdicts[0].posterior > once.verdicts[0].posterior
    assert twice.counts["graph_variables"] == 3
    assert [relation.source for relation in twice.relations] == [passage("c").id] * 2
    assert len(twice.verdicts[0].passages) == 1
    assert twice.verdicts[0].rationale.startswith("1 passage entails it;")


async def test_version_1_does_not_share_a_passage_between_claims():
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "c", "a2": "c"})
    told = {("c", "a1"): entails(0.9), ("c", "a2"): contradicts(0.9)}
    assert (await judge(FactReasoner(1), claims, found, told)).counts["graph_variables"] == 4
    assert (await judge(FactReasoner(2), claims, found, told)).counts["graph_variables"] == 3


async def test_version_2_lets_a_passage_of_another_claim_decide():
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "c", "a2": "d"})
    told = {("d", "a1"): entails(0.9)}
    assert (await judge(FactReasoner(1), claims, found, told)).verdicts[0].label is VerdictLabel.UNDECIDED
    assert (await judge(FactReasoner(2), claims, found, told)).verdicts[0].label is VerdictLabel.SUPPORTED


async def test_what_entered_the_graph_is_told_and_counted():
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "cd", "a2": "d"})
    told = EXAMPLE_1 | {("c", "d"): entails(0.7), ("d", "c"): entails(0.6)}
    judgement = await judge(FactReasoner(3), claims, found, told)
    c, d = passage("c").id, passage("d").id
    assert [(relation.source, relation.target, relation.label, relation.probability) for relation in judgement.relations] == [
        (c, "a1", "entailment", 0.8),
        (d, "a1", "contradiction", 0.9),
        (*sorted([c, d]), "equivalence", 0.6),
    ]
    assert judgement.counts == {
        "relations_entailment": 1,
        "relations_contradiction": 1,
        "relations_neutral": 2,
        "relations_equivalence": 1,
        "relations_dropped": 0,
        "graph_variables": 4,
        "graph_factors": 3,
        "graph_width": 2,
        "pairs_gated": 0,
        "passage_pairs_failed": 0,
    }


async def test_balanced_tables_drop_and_count_improbable_relations():
    told = {("c", "a1"): Distribution(entailment=0.45, contradiction=0.3, neutral=0.25)}
    paper = await judge(FactReasoner(2), [claim("a1")], evidence({"a1": "c"}), told)
    assert paper.counts["relations_dropped"] == 0
    assert paper.verdicts[0].label is VerdictLabel.CONTRADICTED  # the meaning turned round
    balanced = await judge(FactReasoner(2, tables="balanced"), [claim("a1")], evidence({"a1": "c"}), told)
    assert balanced.counts["relations_dropped"] == 1
    assert balanced.counts["graph_factors"] == 0
    assert balanced.verdicts[0].label is VerdictLabel.UNDECIDED
    assert balanced.verdicts[0].passages == ()


async def test_certain_predictions_are_clamped():
    told = {("c", "a1"): Distribution(entailment=1, contradiction=0, neutral=0)}
    told[("d", "a1")] = Distribution(entailment=0, contradiction=1, neutral=0)
    judgement = await judge(FactReasoner(2), [claim("a1")], evidence({"a1": "cd"}), told)
    assert [relation.probability for relation in judgement.relations] == [1 - 1e-6, 1 - 1e-6]
    assert judgement.verdicts[0].label is VerdictLabel.UNDECIDED
    assert judgement.verdicts[0].posterior == pytest.approx(0.5)


async def test_the_gate_leaves_out_and_counts_what_does_not_match():
    claims = [claim("a1"), claim("a2")]
    affinity = {"a1": {"c": 0.9, "d": 0.5, "e": 0.39, "f": 0.4}, "a2": {"e": 0.6, "f": 0.5, "c": 0.1, "d": 0.1}}
    found = evidence({"a1": "cd", "a2": "ef"}, affinity)
    gated = FactReasoner(2, gate=0.8)
    # The worst own passage of a1 has 0.5, so 0.4 passes and 0.39 does not; nothing foreign passes for a2.
    assert set(gated.pairs(claims, found)) == set(FactReasoner(1).pairs(claims, found)) | {Pair("passage f", "claim a1")}
    assert (await judge(gated, claims, found, {})).counts["pairs_gated"] == 3
    three = FactReasoner(3, gate=0.8).pairs(claims, found)
    assert set(gated.pairs(claims, found)) < set(three)
    assert len(three) == 5 + 12
    assert (await judge(FactReasoner(1, gate=0.8), claims, found, {})).counts["pairs_gated"] == 0
    assert len(FactReasoner(2).pairs(claims, found)) == 8


def test_nothing_is_gated_without_scores():
    claims = [claim("a1"), claim("a2")]
    assert len(FactReasoner(2, gate=1.0).pairs(claims, evidence({"a1": "c", "a2": "d"}))) == 4
    unscored_passage = evidence({"a1": "c", "a2": "d"}, {"a1": {"c": 0.9}, "a2": {"d": 0.9}})
    assert len(FactReasoner(2, gate=1.0).pairs(claims, unscored_passage)) == 4
    claim_without_hits = evidence({"a1": "c", "a2": ""}, {"a2": {"c": 0.01}})
    assert len(FactReasoner(2, gate=1.0).pairs(claims, claim_without_hits)) == 2


def test_a_negative_affinity_never_gates_a_passage_that_matches_better_than_the_claims_own():
    found = evidence({"a1": "c", "a2": "de"}, {"a1": {"c": -0.2, "d": -0.18, "e": -0.3}})
    asked = FactReasoner(2, gate=0.8).pairs([claim("a1")], found)
    assert asked == (Pair("passage c", "claim a1"), Pair("passage d", "claim a1"))


async def test_a_failed_prediction_fails_its_claim_and_keeps_it_out_of_the_graph():
    claims, found = [claim("a1"), claim("a2"), claim("a3")], evidence({"a1": "cd", "a2": "c", "a3": ""})
    told = {
        ("c", "a1"): Failure(reason="the answer could not be read"),
        ("d", "a1"): contradicts(0.9),
        ("c", "a2"): entails(0.9),
    }
    judgement = await judge(FactReasoner(2), claims, found, told)
    assert [verdict.label for verdict in judgement.verdicts] == ["failed", "supported", "undecided"]
    assert judgement.verdicts[0].posterior is None
    assert "the answer could not be read" in judgement.verdicts[0].rationale
    assert [relation.target for relation in judgement.relations] == ["a2"]
    assert judgement.counts["graph_variables"] == 4  # two claims, two passages
    without = await judge(FactReasoner(2), claims[1:], found, told)
    assert judgement.verdicts[1:] == without.verdicts


async def test_a_failed_pair_of_passages_is_counted_and_told_and_fails_no_claim():
    told = EXAMPLE_1 | {("d", "c"): Failure(reason="too long"), ("c", "d"): contradicts(0.99)}
    judgement = await judge(FactReasoner(3), [claim("a1")], evidence({"a1": "cd"}), told)
    assert judgement.verdicts[0].posterior == pytest.approx(0.3178807947, abs=1e-10)
    assert judgement.counts["passage_pairs_failed"] == 1
    assert judgement.warnings == ("Pairs of passages that could not be related and are not in the graph: 1.",)


async def test_no_claims_give_an_empty_judgement():
    assert await judge(FactReasoner(2), [], evidence({"a1": "c"}), {}) == Judgement()


async def test_a_claim_without_passages_keeps_its_prior():
    judgement = await judge(FactReasoner(2), [claim("a1")], Evidence(), {})
    (verdict,) = judgement.verdicts
    assert (verdict.posterior, verdict.label) == (0.5, VerdictLabel.UNDECIDED)
    assert verdict.rationale == "no passage entails or contradicts it; prior 0.50"
    assert judgement.warnings == ()
    believed = await judge(FactReasoner(2, claim_prior=0.7), [claim("a1")], Evidence(), {})
    assert believed.verdicts[0].label is VerdictLabel.SUPPORTED


async def test_by_our_own_rules_a_claim_without_relations_has_not_enough_evidence_and_keeps_its_prior():
    assessor = FactReasoner(2, tables="balanced", claim_prior=0.95, rules="own")
    told = {("c", "a1"): Distribution(entailment=0.2, contradiction=0.1, neutral=0.7), ("c", "a2"): entails(0.9)}
    judgement = await judge(assessor, [claim("a1"), claim("a2")], evidence({"a1": "c"}), told)
    assert [verdict.label for verdict in judgement.verdicts] == [VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.SUPPORTED]
    assert judgement.verdicts[0].posterior == pytest.approx(0.95)


@pytest.mark.parametrize(("rules", "pairs"), [("published", {"cd", "ce", "de"}), ("own", {"cd", "de"})])
def test_by_our_own_rules_only_passages_found_for_a_common_claim_are_related(rules, pairs):
    assessor = FactReasoner(3, tables="balanced", rules=rules)
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "cd", "a2": "de"})
    letters = {passage(letter).text: letter for letter in "cde"}
    asked = [pair for pair in assessor.pairs(claims, found) if pair.hypothesis in letters]
    both_ways = {letters[pair.premise] + letters[pair.hypothesis] for pair in asked}
    assert both_ways == pairs | {pair[::-1] for pair in pairs}


async def test_a_distrusted_host_weighs_less_and_a_trusted_one_no_more():
    posteriors = {}
    for name, priors in {"none": {}, "lower": {"example.org": 0.3}, "higher": {"example.org": 1.0}}.items():
        assessor = FactReasoner(2, tables="balanced", host_priors=priors)
        found = evidence({"a1": "c"}, host="en.example.org")
        posteriors[name] = (await judge(assessor, [claim("a1")], found, {("c", "a1"): entails(0.9)})).verdicts[0].posterior
    assert posteriors["lower"] == pytest.approx(0.3 * 0.9 + 0.7 * 0.5)
    assert posteriors["higher"] == posteriors["none"] == pytest.approx(0.99 * 0.9 + 0.01 * 0.5)


async def test_the_reader_is_warned_when_the_graph_turns_against_its_passages():
    claims = [claim(f"a{number}") for number in range(12)]
    found = evidence({each.id: "cde" for each in claims})
    told = {(letter, each.id): entails(0.8) for letter in "cde" for each in claims}
    told |= {(letter, "a0"): contradicts(0.9) for letter in "cde"}
    paper = await judge(FactReasoner(2, passage_prior=0.9), claims, found, told)
    assert any("mean posterior of the passages fell to" in warning for warning in paper.warnings)
    balanced = await judge(FactReasoner(2, tables="balanced", passage_prior=0.9), claims, found, told)
    assert balanced.warnings == ()


@pytest.mark.slow
async def test_the_reader_is_told_that_a_solver_was_approximate():
    claims = [claim(f"a{number}") for number in range(3)]
    found = evidence({each.id: "cdef" for each in claims})
    told = {(letter, each.id): entails(0.6) for letter in "cdef" for each in claims}
    told |= {("c", "a0"): contradicts(0.65), ("d", "a0"): contradicts(0.6)}
    exact = await judge(FactReasoner(2, solver="exact"), claims, found, told)
    loopy = await judge(FactReasoner(2, solver="bp"), claims, found, told)
    assert exact.warnings == ()
    assert exact.counts["graph_width"] == 3
    assert any("the solver bp indicates errors up to" in warning for warning in loopy.warnings)
    assert "graph_width" not in loopy.counts


async def test_impossible_priors_fail_every_claim_with_a_reason():
    # Both passages are false beyond doubt, but with q = 1 `priors` gives a false source and a false target no weight.
    assessor = FactReasoner(3, tables="priors", passage_prior=1.0, host_priors={"example.org": 0.0})
    found = evidence({"a1": "cd"}, host="example.org")
    judgement = await judge(assessor, [claim("a1")], found, {("c", "d"): entails(0.9)})
    assert [verdict.label for verdict in judgement.verdicts] == ["failed"]
    assert judgement.verdicts[0].posterior is None
    assert "inconsistent" in judgement.verdicts[0].rationale


async def test_a_verdict_names_the_five_most_probable_passages():
    told = {(letter, "a1"): entails(0.6 + number / 20) for number, letter in enumerate("cdefgh")}
    judgement = await judge(FactReasoner(2), [claim("a1")], evidence({"a1": "cdefgh"}), told)
    named = judgement.verdicts[0].passages
    assert [each.passage_id for each in named] == [passage(letter).id for letter in "hgfed"]
    assert judgement.verdicts[0].rationale.startswith("6 passages entail it; posterior")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": 4}, "version 4"),
        ({"version": 2, "tables": "noisy"}, "tables 'noisy'"),
        ({"version": 2, "solver": "magic"}, "solver 'magic'"),
        ({"version": 2, "passage_prior": 1.1}, "passage prior"),
        ({"version": 2, "claim_prior": float("nan")}, "claim prior"),
        ({"version": 2, "gate": -0.1}, "gate"),
        ({"version": 2, "host_priors": {"example.org": 2}}, "prior of example.org"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        FactReasoner(**options)
