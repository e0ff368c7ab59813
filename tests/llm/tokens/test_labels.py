import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.llm.tokens.labels import LEAST_REST, label_tree

#: P(token | stem), the same after every stem but one.
QUARTER = math.log(0.25)


def test_labels_with_different_first_tokens_are_told_apart_at_the_root_alone() -> None:
    tree = label_tree([1, 2], {"yes": [1, 2, 7, 8, 9], "no": [1, 2, 5]})
    assert tree.prompt == (1, 2)
    assert [(node.stem, node.children) for node in tree.nodes] == [((), (5, 7))]
    assert tree.log_probs({(): {5: -1.0, 7: -2.0}}) == {"yes": -2.0, "no": -1.0}


def test_a_stretch_between_two_branchings_is_forced_and_costs_nothing() -> None:
    tree = label_tree([1], {"a": [1, 3, 4, 5, 6], "b": [1, 3, 4, 5, 7, 8], "c": [1, 9]})
    assert [(node.stem, node.children) for node in tree.nodes] == [((), (3, 9)), ((3, 4, 5), (6, 7))]
    answers = {(): {3: -1.0, 9: -0.5}, (3, 4, 5): {6: -0.25, 7: -3.0}}
    assert tree.log_probs(answers) == {"a": -1.25, "b": -4.0, "c": -0.5}


def test_the_root_is_asked_even_where_all_labels_begin_alike() -> None:
    tree = label_tree([1], {"a": [1, 3, 4, 5], "b": [1, 3, 4, 6]})
    assert [(node.stem, node.children) for node in tree.nodes] == [((), (3,)), ((3, 4), (5, 6))]


def test_a_single_label_is_asked_token_by_token() -> None:
    tree = label_tree([1], {"only": [1, 3, 4, 5]})
    assert [(node.stem, node.children) for node in tree.nodes] == [((), (3,)), ((3,), (4,)), ((3, 4), (5,))]
    assert tree.log_probs({(): {3: -0.75}, (3,): {4: -0.5}, (3, 4): {5: -1.0}}) == {"only": -2.25}


def test_a_label_that_begins_another_gets_what_the_longer_ones_leave() -> None:
    tree = label_tree([1], {"Support": [1, 3], "Supported": [1, 3, 4], "Supporting": [1, 3, 5]})
    answers = {(): {3: math.log(0.5)}, (3,): {4: math.log(0.3), 5: math.log(0.2)}}
    found = {label: math.exp(value) for label, value in tree.log_probs(answers).items()}
    assert found == pytest.approx({"Support": 0.25, "Supported": 0.15, "Supporting": 0.1})


def test_what_is_left_never_falls_below_what_single_precision_tells_from_nothing() -> None:
    tree = label_tree([1], {"Support": [1, 3], "Supported": [1, 3, 4]})
    assert tree.log_probs({(): {3: 0.0}, (3,): {4: 1e-7}})["Support"] == math.log(LEAST_REST)


def test_a_token_that_merges_over_the_edge_walks_the_prompt_back_for_all_labels() -> None:
    # The prompt ends in "#" (2); one label melts with it to "#S" (20), the other does not.
    tree = label_tree([1, 2], {"Supported": [1, 20, 6], "Irrelevant": [1, 2, 8]})
    assert tree.prompt == (1,)
    assert tree.paths == {"Supported": (20, 6), "Irrelevant": (2, 8)}
    assert [(node.stem, node.children) for node in tree.nodes] == [((), (2, 20))]


@pytest.mark.parametrize("written", [{"a": [1, 2], "b": [1, 3]}, {"a": [1, 2, 4], "b": [1, 2, 4]}])
def test_labels_that_the_tokenizer_drops_or_confounds_are_refused(written: dict[str, list[int]]) -> None:
    with pytest.raises(InputError, match="'a'"):
        label_tree([1, 2], written)


def test_more_children_than_one_request_tells_are_asked_in_parts() -> None:
    tree = label_tree([0], {str(token): [0, token] for token in range(1, 301)})
    (root,) = tree.nodes
    assert [len(part) for part in root.parts(128)] == [128, 128, 44]
    assert sum(root.parts(128), ()) == tuple(range(1, 301))


paths = st.sets(st.lists(st.integers(0, 3), min_size=1, max_size=5).map(tuple), min_size=1, max_size=12)


@given(paths)
def test_the_probabilities_of_all_labels_sum_to_that_of_their_first_tokens(labels: set[tuple[int, ...]]) -> None:
    """Where branchings are complete: below the root every node shares all its mass among what goes on and what ends."""
    tree = label_tree([], {str(path): list(path) for path in labels})
    answers = {}
    for node in tree.nodes:
        ends_here = node.stem in labels
        share = 1.0 / (len(node.children) + (1 if ends_here else 0))
        answers[node.stem] = {child: QUARTER if not node.stem else math.log(share) for child in node.children}
    total = math.fsum(math.exp(value) for value in tree.log_probs(answers).values())
    assert total == pytest.approx(0.25 * len({path[0] for path in labels}))


@given(paths.filter(lambda labels: len(labels) > 1))
def test_every_node_below_the_root_branches_or_ends_a_label(labels: set[tuple[int, ...]]) -> None:
    tree = label_tree([], {str(path): list(path) for path in labels})
    for node in tree.nodes[1:]:
        assert len(node.children) > 1 or node.stem in labels
    ordered = sorted(labels)
    assert len(tree.nodes) <= 1 + sum(a[:1] == b[:1] for a, b in pairwise(ordered))
