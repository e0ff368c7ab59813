"""Probabilistic reasoning over relations: a factor graph goes in, the posterior of every claim and passage comes out.

`marginals` is the one door to the solvers. Graphs come from factor_graph.py (`build_graph`) or from a file (reading.py).
"""

from localfact.inference.factor_graph import FactorGraph
from localfact.inference.solve import Marginals, marginals
from localfact.inference.tables import TableSet

__all__ = ["FactorGraph", "Marginals", "TableSet", "marginals"]
