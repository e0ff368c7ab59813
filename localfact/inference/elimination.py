"""The order in which exact inference eliminates the variables of a component, and whether its tables are small enough.

Widths and table sizes are counted before anything is computed, never timed, so that the same graph gets the same order on every
machine.
"""

from collections.abc import Callable
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


class _Elimination:
    """An order that is being built: the rest of the graph (see _neighbourhoods), and the table sizes so far.

    A variable that is eliminated with a separator of w variables needs a table of 2^(w + 1) cells.
    """

    def __init__(self, neighbours: list[int]) -> None:
        self.neighbours = neighbours.copy()
        self.separators: dict[int, list[int]] = {}
        self.width = self.cells = 0

    def take(self, variable: int) -> list[int]:
        """Joins the neighbours of a variable with one another and removes the variable; returns the neighbours."""
        neighbours, own = self.neighbours, self.neighbours[variable]
        separator = _members(own)
        for neighbour in separator:
            neighbours[neighbour] = (neighbours[neighbour] | own) & ~(1 << neighbour | 1 << variable)
        self.separators[variable] = separator
        self.width = max(self.width, len(separator))
        self.cells += 2 ** (len(separator) + 1)
        return separator

    def within(self, cells_limit: int) -> bool:
        """Whether the tables are small enough, so far."""
        return self.cells <= (CELLS_CEILING if self.width <= WIDTH_LIMIT else min(cells_limit, CELLS_CEILING))

    def order(self) -> EliminationOrder:
        return EliminationOrder(tuple(self.separators), tuple(map(tuple, self.separators.values())))


def elimination_order(component: Component, *, cells_limit: int = CELLS_LIMIT) -> EliminationOrder | TooWide:
    """Min-fill's order; where its tables have more than CELLS_LIMIT cells, the cheapest of it and three others.

    The others take the variable with the fewest neighbours, sweep over the graph from one end, or take the variables as they
    are numbered. On a long grid min-fill opens fronts everywhere and goes far beyond the grid's width; a sweep keeps to it. The
    least width there is (the treewidth) is hard to find, and not always found.

    An order is within the limits if it is no wider than WIDTH_LIMIT or has at most `cells_limit` cells, and never more than
    CELLS_CEILING. Each attempt ends where it passes them, which on a graph that is truly wide is after a few variables.
    """
    neighbours = _neighbourhoods(component)
    hopeless = max(WIDTH_LIMIT, cells_limit.bit_length()) + GLANCE_MARGIN
    fewest = _by_fewest_neighbours(neighbours, hopeless)
    first = fewest if fewest.width > hopeless else _by_fewest_joins(neighbours, cells_limit)
    if first.within(cells_limit) and first.cells <= CELLS_LIMIT:
        return first.order()
    others = (fewest, _by_sweep(neighbours, cells_limit), _as_numbered(neighbours, cells_limit))
    cheapest = min(
        (found for found in (first, *others) if found.within(cells_limit)), key=lambda found: found.cells, default=None
    )
    if cheapest is None:
        limits = f"the limits are {WIDTH_LIMIT} or {cells_limit} table cells in all"
        return TooWide(f"elimination reaches width {first.width}, where {limits}")
    return cheapest.order()


def min_fill_order(component: Component) -> list[int]:
    """Min-fill's order of all variables, however wide it is."""
    found = _Elimination(_neighbourhoods(component))
    _take_by_fewest_joins(found, lambda: True)
    return list(found.separators)


def _by_fewest_joins(neighbours: list[int], cells_limit: int) -> _Elimination:
    found = _Elimination(neighbours)
    _strip_leaves(found)
    _take_by_fewest_joins(found, lambda: found.within(cells_limit))
    return found


def _take_by_fewest_joins(found: _Elimination, may_go_on: Callable[[], bool]) -> None:
    """Min-fill: the variable that joins the fewest unjoined neighbours; ties: the fewest neighbours, then the first."""
    left = [variable for variable in range(len(found.neighbours)) if variable not in found.separators]
    costs = {variable: _cost(found.neighbours, variable) for variable in left}
    while costs and may_go_on():
        variable = min(costs, key=lambda candidate: (costs[candidate], candidate))
        separator = found.take(variable)
        del costs[variable]
        # Only a variable that has lost or gained a neighbour, or whose neighbours were joined, can have another cost now.
        changed = 0
        for neighbour in separator:
            changed |= found.neighbours[neighbour] | 1 << neighbour
        costs.update((other, _cost(found.neighbours, other)) for other in _members(changed))


def _by_fewest_neighbours(neighbours: list[int], most: int) -> _Elimination:
    """The variable with the fewest neighbours, given up at the first with more than `most`."""
    found = _Elimination(neighbours)
    degrees = [bits.bit_count() for bits in neighbours]
    for _ in neighbours:
        variable = degrees.index(min(degrees))
        separator = found.take(variable)
        if found.width > most:
            break
        degrees[variable] = len(degrees)
        for neighbour in separator:
            degrees[neighbour] = found.neighbours[neighbour].bit_count()
    return found


def _by_sweep(neighbours: list[int], cells_limit: int) -> _Elimination:
    """From an end of the graph on, of the variables next to those gone, the one that brings the fewest new ones near.

    Ties: the one that came near first. What is near is the separator, so the order is as wide as the front of the sweep.
    """
    found = _Elimination(neighbours)
    reached = 0
    for start in (_an_end(neighbours), *range(len(neighbours))):
        front = [] if reached >> start & 1 else [start]
        reached |= 1 << start
        while front and found.within(cells_limit):
            fewest = [(found.neighbours[variable] & ~reached).bit_count() for variable in front]
            variable = front.pop(fewest.index(min(fewest)))
            front += _members(found.neighbours[variable] & ~reached)
            reached |= found.neighbours[variable]
            found.take(variable)
    return found


def _an_end(neighbours: list[int]) -> int:
    """A variable as far as possible from one that is as far as possible from one with the fewest neighbours."""
    end = min(range(len(neighbours)), key=lambda variable: neighbours[variable].bit_count())
    for _ in range(2):
        reached = ring = 1 << end
        while ring:
            last, ring = ring, 0
            for variable in _members(last):
                ring |= neighbours[variable]
            ring &= ~reached
            reached |= ring
        end = min(_members(last), key=lambda variable: neighbours[variable].bit_count())
    return end


def _as_numbered(neighbours: list[int], cells_limit: int) -> _Elimination:
    """The variables as they are numbered: often the order in which someone laid the graph out."""
    found = _Elimination(neighbours)
    for variable in range(len(neighbours)):
        found.take(variable)
        if not found.within(cells_limit):
            break
    return found


def _neighbourhoods(component: Component) -> list[int]:
    """The neighbours of each variable as the bits of one integer: comparing two neighbourhoods is one operation."""
    neighbours = [0] * len(component.variables)
    for first, second in component.pairs.tolist():
        neighbours[first] |= 1 << second
        neighbours[second] |= 1 << first
    return neighbours


def _strip_leaves(found: _Elimination) -> None:
    """Eliminates variables with at most one neighbour as long as there are any, which joins nothing.

    Min-fill would take the same ones first, but would look at a hub again after each of its leaves.
    """
    leaves = [variable for variable, bits in enumerate(found.neighbours) if bits.bit_count() <= 1]
    for variable in leaves:
        separator = found.take(variable)
        leaves.extend(neighbour for neighbour in separator if found.neighbours[neighbour].bit_count() == 1)


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
