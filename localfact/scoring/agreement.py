"""How well two raters agree on labels: raw agreement, and the coefficients that take chance out of it."""

from collections import Counter
from collections.abc import Hashable, Sequence

from localfact.records import Record


class Agreement(Record):
    """Two raters' labels of the same things.

    Attributes:
        n: how many things.
        share: of equal labels, in [0, 1].
        kappa: Cohen's coefficient.
        alpha: Krippendorff's, for nominal labels: 1 is perfect, 0 is chance, below is worse. None where a coefficient is
            undefined: nothing to compare, or one label alone, with which chance agrees always.
    """

    n: int
    share: float | None = None
    kappa: float | None = None
    alpha: float | None = None


def agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
    """The agreement of two raters, from their labels of each thing."""
    n = len(pairs)
    if n == 0:
        return Agreement(n=0)
    share = sum(one == other for one, other in pairs) / n
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return Agreement(n=n, share=share, kappa=_kappa(share, first, second, n), alpha=alpha_of_many(pairs))


def alpha_of_many(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal labels of any number of raters, some of whom may have passed a thing over.

    1 - observed / expected disagreement, expected among all labels drawn without replacement (Krippendorff 1980).

    Args:
        units: for each thing the labels that it got; one with fewer than two says nothing of agreement.

    Returns:
        None where it is undefined, as in `Agreement`.
    """
    counted = [Counter(unit) for unit in units if len(unit) > 1]
    labels = sum(counted, Counter[Hashable]())
    total = labels.total()
    expected = _unequal(labels) / (total - 1) if total else 0
    observed = sum(_unequal(unit) / (unit.total() - 1) for unit in counted)
    return 1 - observed / expected if expected > 0 else None


def _unequal(counts: Counter[Hashable]) -> int:
    """How many ordered pairs of two of these labels are of different ones."""
    total: int = counts.total()
    return total**2 - sum(count**2 for count in counts.values())


def _kappa(share: float, first: Counter[Hashable], second: Counter[Hashable], n: int) -> float | None:
    """(share - chance) / (1 - chance), chance by each rater's own use of the labels (Cohen 1960)."""
    chance = sum(count * second[label] for label, count in first.items()) / n**2
    return (share - chance) / (1 - chance) if chance < 1 else None
