"""In which order exact inference sums the variables of a component out, and whether the tables it needs are small enough.

Widths and table sizes are counted before anything is computed, never timed, so the same graph takes the same way on every
machine.
"""

from dataclasses import dataclass

from localfact.inference.components import Component

#: Largest separator of an order that exact inference takes on: tables of 2^17 numbers.
WIDTH_LIMIT = 16
#: Largest sum of table sizes over all variables of a component: 2^24 numbers are 128 MB.
ENTRIES_LIMIT = 2**24


@dataclass(frozen=True)
class EliminationOrder:
    """An order of a component's n variables.

    Attributes:
        variables: positions in the component, first eliminated first.
        separators: for each of them, the variables left over that it is joined with when it goes.
    """

    variables: tuple[int, ...]
    separators: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """The induced width: the size of the largest separator."""
        return max(map(len, self.separators), default=0)


@dataclass(frozen=True)
class TooWide:
    """Why there is no order: `reason` is a clause that names the size found and the limit."""

    reason: str


def min_fill_order(component: Component) -> EliminationOrder | TooWide:
    """Eliminates greedily the variable that joins the fewest unjoined neighbours; ties: the fewest neighbours, then the first.

    Gives up at the first separator above WIDTH_LIMIT, or when the tables together pass ENTRIES_LIMIT.
    """
    neighbours = _neighbourhoods(component)
    separators = _strip_leaves(neighbours)
    entries = sum(2 ** len(separator) for separator in separators.values())
    left = [variable for variable in range(len(neighbours)) if variable not in separators]
    costs = {variable: _cost(neighbours, variable) for variable in left}
    while costs:
        variable = min(costs, key=lambda candidate: (costs[candidate], candidate))
        separator = _members(neighbours[variable])
        entries += 2 ** len(separator)
        if len(separator) > WIDTH_LIMIT:
            return TooWide(f"min-fill elimination reaches width {len(separator)}, the limit is {WIDTH_LIMIT}")
        if entries > ENTRIES_LIMIT:
            return TooWide(f"its tables need more than {ENTRIES_LIMIT} numbers, which is the limit")
        _remove(neighbours, variable, separator)
        separators[variable] = separator
        del costs[variable]
        # Only a variable that has lost or gained a neighbour, or whose neighbours were joined, can have another cost now.
        changed = 0
        for neighbour in separator:
            changed |= neighbours[neighbour] | 1 << neighbour
        costs.update((other, _cost(neighbours, other)) for other in _members(changed))
    return EliminationOrder(tuple(separators), tuple(map(tuple, separators.values())))


def _neighbourhoods(component: Component) -> list[int]:
    """The neighbours of each variable as the bits of one integer: comparing two neighbourhoods is one operation."""
    neighbours = [0] * len(component.variables)
    for first, second in component.pairs.tolist():
        neighbours[first] |= 1 << second
        neighbours[second] |= 1 << first
    return neighbours


def _strip_leaves(neighbours: list[int]) -> dict[int, list[int]]:
    """Eliminates variables with at most one neighbour as long as there are any, which joins nothing; variable -> separator.

    Min-fill would take the same ones first, but would look at a hub again after each of its leaves.
    """
    separators: dict[int, list[int]] = {}
    leaves = [variable for variable, bits in enumerate(neighbours) if bits.bit_count() <= 1]
    for variable in leaves:
        separator = _members(neighbours[variable])
        _remove(neighbours, variable, separator)
        separators[variable] = separator
        leaves.extend(neighbour for neighbour in separator if neighbours[neighbour].bit_count() == 1)
    return separators


def _remove(neighbours: list[int], variable: int, separator: list[int]) -> None:
    """Joins the neighbours of a variable with one another and takes the variable away."""
    for neighbour in separator:
        neighbours[neighbour] = (neighbours[neighbour] | neighbours[variable]) & ~(1 << neighbour | 1 << variable)


def _cost(neighbours: list[int], variable: int) -> tuple[int, int]:
    """How many pairs of neighbours are not joined yet, and how many neighbours there are."""
    own = neighbours[variable]
    members = _members(own)
    missing = sum((own & ~neighbours[member]).bit_count() - 1 for member in members)
    return missing // 2, len(members)


def _members(bits: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    members = []
    while bits:
        lowest = bits & -bits
        members.append(lowest.bit_length() - 1)
        bits ^= lowest
    return members
