"""Marks for a cross-encoder which tokens of each text the other has as well, in the place of the types of its tokens.

A small model that is told where two texts differ need not spend its few layers on finding it. Only models that were taught the
marks are given them: their configuration says `"match_types": true`.
"""

from collections.abc import Sequence

#: The types: of the premise, of the hypothesis; of a hypothesis's token that the premise lacks; of a premise's that both have.
PREMISE, HYPOTHESIS, NEW_IN_HYPOTHESIS, SHARED_IN_PREMISE = range(4)
MATCH_TYPES = 4
#: Its key in a model's configuration.
CONFIGURED = "match_types"


def match_types(ids: Sequence[int], types: Sequence[int], special: frozenset[int]) -> list[int]:
    """The types of a pair's tokens with the marks: as they were for marks of the tokenizer, and where nothing is to be told.

    Args:
        ids: of the tokens of both texts. types: PREMISE or HYPOTHESIS of each.
        special: ids of the tokenizer's own marks.
    """
    premise = {token for token, kind in zip(ids, types, strict=True) if kind == PREMISE}
    hypothesis = {token for token, kind in zip(ids, types, strict=True) if kind == HYPOTHESIS}
    marked = {
        PREMISE: lambda token: SHARED_IN_PREMISE if token in hypothesis else PREMISE,
        HYPOTHESIS: lambda token: HYPOTHESIS if token in premise else NEW_IN_HYPOTHESIS,
    }
    return [kind if token in special else marked[kind](token) for token, kind in zip(ids, types, strict=True)]
