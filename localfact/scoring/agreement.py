"""How well two raters agree on labels: raw agreement, and the coefficients that take chance out of it."""

from collections import Counter
from collections.abc import Hashable, Sequence

from localfact.records import Record


class Agreement(Record):
    """Two raters' labels of the same things.

    Attributes:
        n: how many things. share: of equal labels, in [0, 1]. kappa: Cohen's coefficient; alpha: Krippendorff's, for nominal
            labels: 1 is perfect, 0 is chance, below is worse. None where a coefficient is undefined: nothing to compare, or one
            label alone, with which chance agrees always.
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
    return Agreement(n=n, share=share, kappa=_kappa(share, first, second, n), alpha=_alpha(share, first + second, n))


def _kappa(share: float, first: Counter[Hashable], second: Counter[Hashable], n: int) -> float | None:
    """(share - chance) / (1 - chance), chance by each rater's own use of the labels (Cohen 1960)."""
    chance = sum(count * second[label] for label, count in first.items()) / n**2
    return (share - chance) / (1 - chance) if chance < 1 else None


def _alpha(share: float, both: Counter[Hashable], n: int) -> float | None:
    """1 - observed / expected disagreement, expected among all 2n labels drawn without replacement (Krippendorff 1980)."""
    total = 2 * n
    expected = 1 - sum(count * (count - 1) for count in both.values()) / (total * (total - 1))
    return 1 - (1 - share) / expected if expected > 0 else None
