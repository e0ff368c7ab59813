"""Factor graphs in the UAI file format, so that any other solver can be used on our graphs and ours on theirs.

The format of the UAI inference competitions: numbers and white space, without names. Variable i of a file is `graph.ids[i]`,
and value 1 is true.
"""

import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.factor_graph import FactorGraph

#: Preambles that mean a product of tables; a Bayesian network is written in the same way.
PREAMBLES = ("MARKOV", "BAYES")
#: Two weights of a variable that add up to 1 this closely are its prior as it stands.
NORMALISED = 1e-12
#: The most characters of a faulty token in a message.
SHOWN_CHARACTERS = 40

_Table = NDArray[np.float64]


def write_uai(graph: FactorGraph) -> str:
    """The graph as a Markov network: its n priors as unary factors, then its m factors, parallel ones one by one.

    Numbers are written so that they are read back bit for bit. Variable i is graph.ids[i].
    """
    count = len(graph.ids)
    scopes = [f"1 {variable}" for variable in range(count)]
    scopes += [f"2 {source} {target}" for source, target in graph.edges.tolist()]
    tables = [[1 - prior, prior] for prior in graph.priors.tolist()] + graph.tables.reshape(-1, 4).tolist()
    entries = [f"{len(table)}\n{' '.join(map(repr, table))}\n" for table in tables]
    head = ["MARKOV", str(count), " ".join(["2"] * count), str(len(scopes)), *scopes, ""]
    return "\n".join([*head, *entries])


def read_uai(text: str) -> FactorGraph:
    """The graph of a file with binary variables, named "x0", "x1"..., and factors over at most two of them each.

    The unary factors of a variable are multiplied and become its prior. Where they do not add up to 1, their sum goes into a
    pair factor, so that log Z is the file's too; the same goes for constants (factors over no variable).

    Raises:
        InputError: the text is not in the format (with line and token), a variable is not binary, a factor is over more than
            two variables, a weight is negative or not finite, or an unnormalised file has a single variable, so that there is
            no pair to hold the constant.
    """
    tokens = _Tokens(text)
    if tokens.take("the preamble").upper() not in PREAMBLES:
        tokens.refuse(f"the preamble must be {' or '.join(PREAMBLES)}")
    count = tokens.natural("the number of variables")
    for variable in range(count):
        if tokens.natural(f"the number of values of variable {variable}") != 2:
            tokens.refuse("every variable must have 2 values")
    scopes = [_scope(tokens, factor, count) for factor in range(tokens.natural("the number of factors"))]
    tables = [_table(tokens, factor, len(scope)) for factor, scope in enumerate(scopes)]
    tokens.finish()
    return _graph(count, scopes, tables)


class _Tokens:
    """Reads the tokens of a UAI file one by one; error messages name the line of the last token read."""

    def __init__(self, text: str) -> None:
        self._tokens = [(number, token) for number, line in enumerate(text.splitlines(), start=1) for token in line.split()]
        self._taken = 0

    def take(self, what: str) -> str:
        if self._taken == len(self._tokens):
            raise InputError(f"The UAI file ends where {what} should stand: it is cut short, or an earlier number is wrong.")
        self._taken += 1
        return self._tokens[self._taken - 1][1]

    def natural(self, what: str, *, below: int | None = None) -> int:
        """A number from 0, and less than `below`."""
        token = self.take(what)
        if not (token.isascii() and token.isdigit()) or len(token) > SHOWN_CHARACTERS:
            self.refuse(f"{what} must be a whole number from 0")
        if below is not None and int(token) >= below:
            self.refuse(f"{what} must be less than {below}")
        return int(token)

    def weight(self, what: str) -> float:
        token = self.take(what)
        try:
            value = math.nan if "_" in token else float(token)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            self.refuse(f"{what} must be a finite number from 0")
        return value

    def refuse(self, reason: str) -> NoReturn:
        """Raises an InputError about the last token."""
        line, token = self._tokens[self._taken - 1]
        raise InputError(f"The UAI file, line {line}, token {token[:SHOWN_CHARACTERS]!r}: {reason}.")

    def finish(self) -> None:
        if self._taken < len(self._tokens):
            self.take("the end")
            self.refuse("the file should end before this")


def _scope(tokens: _Tokens, factor: int, count: int) -> tuple[int, ...]:
    size = tokens.natural(f"the size of factor {factor}")
    if size > 2:
        tokens.refuse("a factor may be over at most 2 variables here")
    scope = tuple(tokens.natural(f"a variable of factor {factor}", below=count) for _ in range(size))
    if len(set(scope)) < size:
        tokens.refuse("a factor must be over different variables")
    return scope


def _table(tokens: _Tokens, factor: int, size: int) -> _Table:
    """The weights of one factor, shape (2,) * size: the last variable of the scope changes fastest."""
    if tokens.natural(f"the number of weights of factor {factor}") != 2**size:
        tokens.refuse(f"factor {factor} has {2**size} weights")
    return np.array([tokens.weight(f"a weight of factor {factor}") for _ in range(2**size)]).reshape((2,) * size)


def _graph(count: int, scopes: Sequence[tuple[int, ...]], tables: Sequence[_Table]) -> FactorGraph:
    """The tables as a FactorGraph; the constants of normalising its priors are multiplied into pair factors."""
    edges: list[tuple[int, ...]] = []
    factors: list[_Table] = []
    constant = 1.0
    unary = np.ones((count, 2))
    for scope, table in zip(scopes, tables, strict=True):
        if len(scope) == 2:
            edges.append(scope)
            factors.append(table)
        elif len(scope) == 1:
            unary[scope[0]] *= table
        else:
            constant *= float(table)
    totals = unary.sum(axis=1)
    normalised = np.abs(totals - 1) <= NORMALISED
    priors = np.where(normalised, unary[:, 1], 0.5)
    shared = ~normalised & (totals > 0)
    priors[shared] = unary[shared, 1] / totals[shared]

    scales = [(variable, float(totals[variable])) for variable in np.flatnonzero(~normalised).tolist()]
    if constant != 1:
        scales.append((0, constant))
    if scales and count < 2:
        raise InputError(
            "The UAI file has fewer than 2 variables, so its weights must add up to 1: no pair could hold the rest."
        )
    for variable, scale in scales:
        _multiply_in(variable, scale, count, edges, factors)
    names = tuple(f"x{variable}" for variable in range(count))
    return FactorGraph(names, np.clip(priors, 0.0, 1.0), np.array(edges, dtype=np.int64), np.array(factors))


def _multiply_in(variable: int, scale: float, count: int, edges: list[tuple[int, ...]], factors: list[_Table]) -> None:
    """Multiplies the first factor over the variable by a constant; one is made with its neighbour in order if there is none."""
    held = next((position for position, edge in enumerate(edges) if variable in edge), None)
    if held is None:
        edges.append((variable, (variable + 1) % count))
        factors.append(np.ones((2, 2)))
        held = len(edges) - 1
    with np.errstate(over="ignore"):
        scaled = factors[held] * scale
    if not np.isfinite(scaled).all() or (scale > 0 and np.any((scaled > 0) != (factors[held] > 0))):
        raise InputError(f"The weights of variable {variable} in the UAI file are too large or too small to be multiplied.")
    factors[held] = scaled
