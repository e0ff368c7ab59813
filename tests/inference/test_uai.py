"""The UAI file format: what is written is read back, what others write is read, and faults are named with their line."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import HARD, enumerated, graphs

from localfact.errors import InputError
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.uai import read_uai, write_uai

#: One unary factor, and one over both variables, the second first.
TEXT = """MARKOV
2
2 2
2
1 0
2 1 0

2
 0.25 0.75
4
 1 2
 3 4
"""

Factors = list[tuple[tuple[int, ...], list[float]]]


@st.composite
def factor_lists(draw: st.DrawFn) -> tuple[int, Factors]:
    """Up to 5 variables and factors over 0, 1 or 2 of them, with weights of any scale and zeros."""
    count = draw(st.integers(2, 5))
    scope = st.lists(st.integers(0, count - 1), max_size=2, unique=True).map(tuple)
    weight = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))
    return count, [
        (variables, draw(st.lists(weight, min_size=2 ** len(variables), max_size=2 ** len(variables))))
        for variables in draw(st.lists(scope, max_size=10))
    ]


def uai_text(count: int, factors: Factors) -> str:
    scopes = [" ".join(map(str, (len(scope), *scope))) for scope, _ in factors]
    tables = [f"{len(weights)} {' '.join(map(str, weights))}" for _, weights in factors]
    return "\n".join(["MARKOV", str(count), "2 " * count, str(len(factors)), *scopes, *tables])


def summed(count: int, factors: Factors) -> np.ndarray:
    """The sum of all weights (0), and of those with each variable true (1 to count), in exact order of the definition."""
    sums = np.zeros(count + 1)
    for values in itertools.product((0, 1), repeat=count):
        cells = (weights[int("0" + "".join(str(values[v]) for v in scope), 2)] for scope, weights in factors)
        sums += math.prod(cells) * np.array([1, *values])
    return sums


@pytest.mark.slow
@given(graph=graphs(HARD))
def test_a_written_graph_is_read_back_bit_by_bit(graph):
    found = read_uai(write_uai(graph))
    assert len(found.ids) == len(graph.ids)
    assert np.array_equal(found.edges, graph.edges)
    assert np.array_equal(found.tables, graph.tables)
    assert np.array_equal(found.priors, graph.priors)


@pytest.mark.slow
@given(written=factor_lists())
def test_files_of_any_scale_keep_their_marginals_and_log_z(written):
    sums = summed(*written)
    marginals, log_z = enumerated(read_uai(uai_text(*written)))
    if sums[0] == 0:
        assert marginals is None
    else:
        assert log_z == pytest.approx(math.log(sums[0]), abs=1e-9)
        assert marginals == pytest.approx(sums[1:] / sums[0], abs=1e-9)


def test_a_file_of_another_program_is_read_table_by_table():
    graph = read_uai(TEXT)
    assert graph.ids == ("x0", "x1")
    # Variable 1 has no unary factor: it weighs (1, 1), so its pair factor takes the 2 that (0.5, 0.5) lacks.
    assert graph.priors.tolist() == [0.75, 0.5]
    assert graph.edges.tolist() == [[1, 0]]
    assert graph.tables.tolist() == [[[2, 4], [6, 8]]]


def test_what_is_written_says_source_and_target_in_order():
    graph = FactorGraph(("a", "c"), [0.5, 0.875], [[1, 0]], [[[0.8, 0.7], [0.2, 0.6]]])
    assert " ".join(write_uai(graph).split()) == "MARKOV 2 2 2 3 1 0 1 1 2 1 0 2 0.5 0.5 2 0.125 0.875 4 0.8 0.7 0.2 0.6"


@given(graph=graphs(most=4, edges=4))
def test_pgmpy_reads_what_is_written(graph):
    from pgmpy.readwrite import UAIReader

    read = UAIReader(string=write_uai(graph))
    assert read.network_type == "MARKOV"
    factors = [[float(value) for value in values] for _, values in read.tables]
    expected = [[1 - prior, prior] for prior in graph.priors] + [table.reshape(-1).tolist() for table in graph.tables]
    assert factors == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MARKOV", "FACTORS", "line 1, token 'FACTORS': the preamble must be MARKOV or BAYES"),
        ("MARKOV\n2\n", "MARKOV\ntwo\n", "line 2, token 'two': the number of variables must be a whole number"),
        ("2 2\n2\n", "2 3\n2\n", "line 3, token '3': every variable must have 2 values"),
        ("2 1 0", "3 1 0 1", "line 6, token '3': a factor may be over at most 2 variables"),
        ("2 1 0", "2 1 2", "line 6, token '2': a variable of factor 1 must be less than 2"),
        ("2 1 0", "2 1 1", "line 6, token '1': a factor must be over different variables"),
        ("2 1 0", "2 1 -1", "line 6, token '-1'"),
        ("4\n 1 2", "3\n 1 2", "line 10, token '3': factor 1 has 4 weights"),
        ("0.25", "-0.25", "line 9, token '-0.25': a weight of factor 0 must be a finite number from 0"),
        ("0.25", "nan", "line 9, token 'nan'"),
        ("0.25", "1e999", "line 9, token '1e999'"),
        ("0.25", "1_0", "line 9, token '1_0'"),
        ("0.25", "x" * 1000, "line 9, token 'x{40}'"),
        (" 3 4\n", " 3\n", "ends where a weight of factor 1 should stand"),
        (" 3 4\n", " 3 4\n5\n", "line 13, token '5': the file should end before this"),
        ("1 2\n 3 4", "1e308 2\n 3 1.7e308", "too large or too small"),
        (TEXT, "", "ends where the preamble should stand"),
        (TEXT, "MARKOV 1 2 0", "fewer than 2 variables"),
        (TEXT, "MARKOV " + "9" * 30 + " 2 2", "ends where the number of values of variable 2"),
    ],
)
def test_a_faulty_file_is_refused_with_line_and_token(old, new, message):
    with pytest.raises(InputError, match=message):
        read_uai(TEXT.replace(old, new, 1))
