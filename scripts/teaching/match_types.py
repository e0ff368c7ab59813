"""Marks, in place of a cross-encoder's token types, which tokens of each text also occur in the other.

So a small model need not spend its few layers on finding where the texts differ.
"""

from collections.abc import Sequence

#: The types: a token of the premise, of the hypothesis; one of the hypothesis that the premise lacks; one of the premise that
#: both have.
PREMISE, HYPOTHESIS, NEW_IN_HYPOTHESIS, SHARED_IN_PREMISE = range(4)


def match_types(ids: Sequence[int], types: Sequence[int], special: frozenset[int]) -> list[int]:
    """The types of a pair's tokens with the marks; special tokens keep theirs.

    Args:
        ids: of the tokens of both texts.
        types: PREMISE or HYPOTHESIS of each.
        special: ids of the tokenizer's special tokens.
    """
    premise = {token for token, kind in zip(ids, types, strict=True) if kind == PREMISE}
    hypothesis = {token for token, kind in zip(ids, types, strict=True) if kind == HYPOTHESIS}
    marked = {
        PREMISE: lambda token: SHARED_IN_PREMISE if token in hypothesis else PREMISE,
        HYPOTHESIS: lambda token: HYPOTHESIS if token in premise else NEW_IN_HYPOTHESIS,
    }
    return [kind if token in special else marked[kind](token) for token, kind in zip(ids, types, strict=True)]
