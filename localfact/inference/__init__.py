"""Inference in factor graphs: from priors and relations to the posterior of every claim and passage.

`marginals` is the interface to all solvers. Graphs come from factor_graph.py (`build_graph`) or from a file (reading.py).
"""

from localfact.inference.factor_graph import FactorGraph
from localfact.inference.solve import Marginals, marginals
from localfact.inference.tables import TableSet
