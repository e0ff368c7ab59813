"""In which order exact inference sums the variables of a component out, and whether the tables it needs are small enough.

Widths and table sizes are counted before anything is computed, never timed, so the same graph takes the same way on every
machine.
"""

from dataclasses import dataclass

from localfact.inference.components import Component

#: Orders up to this width are taken whatever the number of cells, short of CELLS_CEILING: tables of 2^17 cells.
WIDTH_LIMIT = 16
#: Wider orders are taken by `auto` where all tables together have at most so many cells: about 0.05 s of work.
CELLS_LIMIT = 2**20
#: No order with more cells than this is taken by any solver: their conditionals fill half a gigabyte.
CELLS_CEILING = 2**26
#: Min-fill is not tried where eliminating by the fewest neighbours, which is much cheaper to follow, gets wider than the limits
#: allow by more than this: the two seldom differ so much.
GLANCE_MARGIN = 6


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


def min_fill_order(component: Component, *, cells_limit: int = CELLS_LIMIT) -> EliminationOrder | TooWide:
    """Eliminates greedily the variable that joins the fewest unjoined neighbours; ties: the fewest neighbours, then the first.

    A variable eliminated with a separator of w variables needs a table of 2^(w + 1) cells. Gives up as soon as the order is
    wider than WIDTH_LIMIT and has more than `cells_limit` cells, or has more than CELLS_CEILING.
    """
    neighbours = _neighbourhoods(component)
    hopeless = max(WIDTH_LIMIT, cells_limit.bit_length()) + GLANCE_MARGIN
    if (glance := _width_at_a_glance(neighbours, hopeless)) > hopeless:
        return _too_wide(glance, cells_limit)
    separators = _strip_leaves(neighbours)
    cells, width = sum(2 ** (len(separator) + 1) for separator in separators.values()), 0
    left = [variable for variable in range(len(neighbours)) if variable not in separators]
    costs = {variable: _cost(neighbours, variable) for variable in left}
    while costs:
        variable = min(costs, key=lambda candidate: (costs[candidate], candidate))
        separator = _members(neighbours[variable])
        cells += 2 ** (len(separator) + 1)
        width = max(width, len(separator))
        if cells > (CELLS_CEILING if width <= WIDTH_LIMIT else min(cells_limit, CELLS_CEILING)):
            return _too_wide(width, cells_limit)
        _remove(neighbours, variable, separator)
        separators[variable] = separator
        del costs[variable]
        # Only a variable that has lost or gained a neighbour, or whose neighbours were joined, can have another cost now.
        changed = 0
        for neighbour in separator:
            changed |= neighbours[neighbour] | 1 << neighbour
        costs.update((other, _cost(neighbours, other)) for other in _members(changed))
    return EliminationOrder(tuple(separators), tuple(map(tuple, separators.values())))


def _too_wide(width: int, cells_limit: int) -> TooWide:
    return TooWide(f"elimination reaches width {width}, where the limits are {WIDTH_LIMIT} or {cells_limit} table cells in all")


def _width_at_a_glance(neighbours: list[int], most: int) -> int:
    """The width of the order that eliminates the variable with the fewest neighbours, given up at the first beyond `most`."""
    neighbours = neighbours.copy()
    degrees = [bits.bit_count() for bits in neighbours]
    width = 0
    for _ in degrees:
        fewest = min(degrees)
        width = max(width, fewest)
        if width > most:
            break
        variable = degrees.index(fewest)
        separator = _members(neighbours[variable])
        _remove(neighbours, variable, separator)
        degrees[variable] = len(degrees)
        for neighbour in separator:
            degrees[neighbour] = neighbours[neighbour].bit_count()
    return width


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
