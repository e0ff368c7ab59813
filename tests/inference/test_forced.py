"""Hard evidence: what follows from weights of 0 is fixed before anything is solved."""

import itertools
import math

import numpy as np
import pytest
from random_graphs import enumerate_all

from localfact.inference import FactorGraph, marginals
from localfact.inference.components import log_form
from localfact.inference.contraction import contract
from localfact.inference.factor_graph import build_graph
from localfact.inference.forced import FREE, condition
from localfact.inference.network import lay_out
from localfact.records import Relation
from localfact.vocabulary import RelationLabel


def chain(prior: float, count: int = 6) -> FactorGraph:
    """Variables that each entail the next for certain."""
    names = [f"c{i}" for i in range(count)]
    relations = [
        Relation(source=one, target=other, label=RelationLabel.ENTAILMENT, probability=1.0)
        for one, other in itertools.pairwise(names)
    ]
    return build_graph({}, dict.fromkeys(names, 0.5) | {names[0]: prior}, relations, tables="paper")


def test_a_certain_start_fixes_the_whole_chain_and_its_weight():
    conditioned = condition(log_form(chain(1.0))[0])
    assert conditioned.values.tolist() == [1] * 6
    assert len(conditioned.free.variables) == 0
    assert conditioned.log_z == pytest.approx(5 * np.log(0.5))


def test_without_certainty_nothing_is_fixed():
    conditioned = condition(log_form(chain(0.9))[0])
    assert conditioned.values.tolist() == [FREE] * 6
    assert conditioned.log_z == 0


def test_a_row_of_zeros_forces_without_any_certain_prior_and_cuts_the_graph():
    # b must be true: the first factor leaves no weight to false. What hung together by b falls apart.
    tables = np.array([[[0, 0.5], [0, 1]], [[0.2, 0.7], [0.4, 0.3]]])
    graph = FactorGraph(("a", "b", "c"), np.array([0.5, 0.5, 0.5]), np.array([[0, 1], [1, 2]]), tables)
    conditioned = condition(log_form(graph)[0])
    assert conditioned.values.tolist() == [FREE, 1, FREE]
    assert conditioned.free.variables.tolist() == [0, 2]
    assert len(conditioned.free.pairs) == 0
    found = marginals(graph)
    assert found.marginals == pytest.approx({"a": 1 / 1.5, "b": 1.0, "c": 0.3 / 0.7})
    assert found.factor_marginals[1] == pytest.approx(np.array([[0, 0], [0.4 / 0.7, 0.3 / 0.7]]))


def test_opposite_certainties_are_found_inconsistent():
    graph = chain(1.0)
    priors = graph.priors.copy()
    priors[-1] = 0.0
    assert not marginals(FactorGraph(graph.ids, priors, graph.edges, graph.tables)).consistent


def test_fixing_makes_a_wide_graph_exact():
    # Thirty passages that all contradict one another; the first is certain, for certain: the others are false.
    names = [f"c{i}" for i in range(30)]
    against = [
        Relation(source=one, target=other, label=RelationLabel.CONTRADICTION, probability=1.0 if one == "c0" else 0.8)
        for index, one in enumerate(names)
        for other in names[index + 1 :]
    ]
    found = marginals(build_graph({}, dict.fromkeys(names, 0.5) | {"c0": 1.0}, against, tables="paper"))
    assert (found.exact, found.width) == (True, 0)
    assert found.marginals == {name: float(name == "c0") for name in names}


def implying(random: np.random.Generator, count: int) -> FactorGraph:
    """Soft tables with a few zeros, which force some variables only over several steps; not always consistent."""
    pairs = list(itertools.combinations(range(count), 2))
    tables = random.uniform(0.2, 1.0, (len(pairs), 2, 2))
    tables[random.random(tables.shape) < random.uniform(0.05, 0.2)] = 0
    return FactorGraph(tuple(f"v{i}" for i in range(count)), random.uniform(0.2, 0.8, count), np.array(pairs), tables)


def test_exactly_the_variables_with_one_possible_value_are_fixed():
    over_several_steps = 0
    for seed in range(400):
        graph = implying(np.random.default_rng(seed), 2 + seed % 7)
        contraction, known = contract(log_form(graph)[0]), enumerate_all(graph)
        if known is None:
            continue
        conditioned = condition(contraction.tied)
        expected = known[0][contraction.tied.variables]
        certain = np.where(expected < 1e-12, 0, np.where(expected > 1 - 1e-12, 1, FREE))
        assert conditioned.values.tolist() == certain.tolist(), seed
        zeros = np.isneginf(contraction.tied.log_tables)
        at_once = zeros.all(axis=1).any() or zeros.all(axis=2).any()
        over_several_steps += bool((certain != FREE).any()) and not at_once
    assert over_several_steps > 10


def with_forced(size: int, value: int) -> FactorGraph:
    """All of `size` passages related, and two claims by which zeros leave c0 this value; no prior or row of zeros says so."""
    random = np.random.default_rng(3)
    names = ("w", "x", *(f"c{i}" for i in range(size)))
    pairs = [(2 + one, 2 + other) for one, other in itertools.combinations(range(size), 2)]
    agreeing = random.uniform(0.4, 0.65, len(pairs))
    tables = [[[agrees, 1 - agrees], [1 - agrees, agrees]] for agrees in agreeing]
    # With the other value c0 would imply both w and x, and these two exclude one another.
    implied = np.array([[0.4, 0.7], [0.6, 0.9]])
    implied[1 - value, 0] = 0
    tables += [implied, implied, [[0.5, 0.8], [0.7, 0.0]]]
    return FactorGraph(names, random.uniform(0.3, 0.7, size + 2), np.array([*pairs, (2, 0), (2, 1), (0, 1)]), np.array(tables))


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("solver", ["auto", "bp", "exact"])
def test_a_variable_that_zeros_force_over_several_steps_has_that_value_from_every_solver(solver, value):
    graph = with_forced(9, value)
    found, (expected, joint, log_z) = marginals(graph, solver=solver), enumerate_all(graph)
    near = 1e-3 if solver == "bp" else 1e-12
    assert found.marginals["c0"] == value
    assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=near)
    assert found.factor_marginals == pytest.approx(joint, abs=near)
    assert found.log_z == pytest.approx(log_z, abs=near)


@pytest.mark.parametrize("value", [0, 1])
def test_in_a_wide_graph_a_variable_forced_by_zeros_is_one_whose_prior_says_so(value):
    graph = with_forced(28, value)
    found = marginals(graph)
    assert found.solver == "bp"
    assert found.error < 0.05
    assert found.marginals["c0"] == value
    c0 = graph.ids.index("c0")
    told = graph.priors.copy()
    told[c0] = value
    alike = marginals(FactorGraph(graph.ids, told, graph.edges, graph.tables))
    assert found.marginals == pytest.approx(alike.marginals, abs=1e-9)
    assert found.factor_marginals == pytest.approx(alike.factor_marginals, abs=1e-9)
    assert found.log_z == pytest.approx(alike.log_z + math.log(graph.priors[c0] if value else 1 - graph.priors[c0]), abs=1e-9)


def test_messages_are_not_passed_with_a_variable_that_should_have_been_fixed():
    with pytest.raises(ValueError, match="must be fixed"):
        lay_out(log_form(chain(1.0))[0])
