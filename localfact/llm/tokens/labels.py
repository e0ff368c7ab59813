"""The tree of a closed set of labels: which log-probabilities distinguish them, and how they add up.

Labels are compared token by token, tokenised behind the prompt. The model is only asked where they branch; tokens in between
are forced by the closed set and cost nothing. A single label is asked token by token, for its whole probability.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from localfact.errors import InputError
from localfact.llm.tokens.offsets import shared_length

Ids = tuple[int, ...]
#: Stem (tokens after the prompt) -> next token id -> its log-probability.
Answers = Mapping[Ids, Mapping[int, float]]

#: The least probability of a label that ends where longer ones go on: the resolution of single precision.
LEAST_REST = 2.0**-24


@dataclass(frozen=True)
class Node:
    """A place where the model is asked: the log-probabilities of the tokens `children` after the prompt and `stem`."""

    stem: Ids
    children: tuple[int, ...]

    def parts(self, most: int) -> list[tuple[int, ...]]:
        """The children in groups of at most `most`."""
        return [self.children[start : start + most] for start in range(0, len(self.children), most)]


@dataclass(frozen=True)
class LabelTree:
    """A closed set of labels as sequences of tokens after a common prompt.

    Attributes:
        prompt: the tokens that all labels follow.
        paths: label -> its tokens after the prompt.
        nodes: where to ask, in order: the root, and every stem after which the labels go on in more than one way (ending counts
            as one); for a single label, every stem of it.
    """

    prompt: Ids
    paths: Mapping[str, Ids]
    nodes: tuple[Node, ...]

    def log_probs(self, answers: Answers) -> dict[str, float]:
        """Returns label -> the sum of its log-probabilities at the nodes on its path.

        A label that ends at a node where longer labels go on gets log(1 - the sum of their probabilities).
        """
        return {label: sum(self._steps(path, answers)) for label, path in self.paths.items()}

    def rest(self, label: str) -> tuple[Node, ...]:
        """The places on a label's path where the closed set does not branch: there its next token is forced."""
        path, asked = self.paths[label], {node.stem for node in self.nodes}
        return tuple(Node(path[:end], (path[end],)) for end in range(len(path)) if path[:end] not in asked)

    def _steps(self, path: Ids, answers: Answers) -> list[float]:
        on_the_way = (node for node in self.nodes if path[: len(node.stem)] == node.stem)
        return [
            _rest(answers[node.stem]) if len(path) == len(node.stem) else answers[node.stem][path[len(node.stem)]]
            for node in on_the_way
        ]


def label_tree(prompt: Sequence[int], written: Mapping[str, Sequence[int]]) -> LabelTree:
    """Returns the tree of labels that were tokenised together with the prompt.

    Where tokens merge across the edge between prompt and label, the tree's prompt is shortened to the longest prefix of tokens
    that `prompt` and all written labels share; what was cut off belongs to each label's path, tokenised with it. So every label
    has the tokens that the model saw in training.

    Args:
        prompt: the tokens of the prompt alone.
        written: label -> the tokens of prompt and label as one text.

    Raises:
        InputError: two labels have the same tokens, or a label has none.
    """
    shared = len(prompt)
    for ids in written.values():
        shared = min(shared, shared_length(prompt, ids))
    paths = {label: tuple(ids[shared:]) for label, ids in written.items()}
    named: dict[Ids, str] = {}
    for label, path in paths.items():
        if not path or len(written[label]) == len(prompt) == shared_length(prompt, written[label]):
            raise InputError(f"The label {label!r} writes nothing in this place: this tokenizer drops it.")
        if path in named:
            raise InputError(f"The labels {named[path]!r} and {label!r} are the same tokens in this model. Name them apart.")
        named[path] = label
    return LabelTree(tuple(prompt[:shared]), paths, _nodes(set(named)))


def _nodes(paths: set[Ids]) -> tuple[Node, ...]:
    # Sorted paths branch from a neighbour at every place where they branch at all.
    ordered = sorted(paths)
    stems = {(), *(a[: shared_length(a, b)] for a, b in pairwise(ordered))}
    if len(ordered) == 1:
        # A single label: its whole probability is asked for, token by token.
        stems = {ordered[0][:end] for end in range(len(ordered[0]))}
    return tuple(
        Node(stem, tuple(sorted({path[len(stem)] for path in paths if len(path) > len(stem) and path[: len(stem)] == stem})))
        for stem in sorted(stems, key=lambda stem: (len(stem), stem))
    )


def _rest(children: Mapping[int, float]) -> float:
    return math.log(max(LEAST_REST, 1.0 - math.fsum(map(math.exp, children.values()))))
