"""The 2 x 2 factor tables of a relation, in the three sets that localfact has.

One relation from x to y with probability p becomes one table here; factor_graph.py combines them into a graph.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from localfact.vocabulary import RelationLabel

TableSet = Literal["paper", "priors", "balanced"]
TABLE_SETS: tuple[TableSet, ...] = get_args(TableSet)

#: In `balanced`, a relation with at most this probability would have the opposite effect, so it makes no factor.
BALANCED_MINIMUM = 0.5


def makes_factor(tables: TableSet, label: RelationLabel, probability: float) -> bool:
    """Whether a relation becomes a factor: neutral never does, nor does p <= 0.5 with the `balanced` tables."""
    if label is RelationLabel.NEUTRAL:
        return False
    return tables != "balanced" or probability > BALANCED_MINIMUM


def factor_table(
    tables: TableSet, label: RelationLabel, probability: float, target_prior: float, *, of_one_kind: bool = False
) -> NDArray[np.float64]:
    """Returns the weights f[source][target], false before true, shape (2, 2) (FactReasoner, Table 1).

    Args:
        tables: `paper` weighs a false source p whatever the target; `priors` weighs it (1 - q, q); `balanced` weighs it so
            that, summed over the target's prior, a true and a false source weigh the same.
        label: entailment, contradiction or equivalence. An equivalence has the same table in all three sets.
        probability: p in [0, 1].
        target_prior: q in [0, 1]; `paper` does not use it.
        of_one_kind: whether both ends are passages, or both claims. Their contradiction has no direction: two that contradict
            one another cannot both be true, so in `balanced` too it has the paper's table, which has no direction either.

    Raises:
        ValueError: the label is neutral, which makes no factor.
    """
    p, q = probability, target_prior
    if label is RelationLabel.NEUTRAL:
        raise ValueError("a neutral relation makes no factor")
    if label is RelationLabel.EQUIVALENCE:
        return np.array([[p, 1 - p], [1 - p, p]])
    true_source = (1 - p, p) if label is RelationLabel.ENTAILMENT else (p, 1 - p)
    undirected = of_one_kind and label is RelationLabel.CONTRADICTION
    if tables == "paper" or (tables == "balanced" and undirected):
        false_source = (p, p)
    elif tables == "priors":
        false_source = (1 - q, q)
    else:
        expected = (1 - q) * true_source[0] + q * true_source[1]
        false_source = (expected, expected)
    return np.array([false_source, true_source])
