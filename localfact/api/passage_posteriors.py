"""How far the factor graphs of a run believe their passages.

An assessment keeps relations and no passage's posterior, so its graph is solved again, by the run's own solver: the graph of
`localfact show RUN ID --graph`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from localfact.api.graph import graph
from localfact.inference import marginals
from localfact.inference.reading import parse_graph
from localfact.records import Assessment
from localfact.report.plot_data import PassagePosteriors
from localfact.runs.record import RunRecord
from localfact.scoring.tally import Unscored

#: The most responses of a run whose graphs are solved; of more, so many evenly spread ones.
MOST_GRAPHS = 500


def passage_posteriors(
    run: RunRecord, assessments: Sequence[Assessment], progress: Callable[[int, int], None] = lambda done, total: None
) -> PassagePosteriors | Unscored:
    """The mean posterior of the passages of each response that has any, and the size of its graph.

    A passage that no relation touches counts with its prior, as in the warning of a run whose passages are not believed.

    Args:
        run: for the method's settings.
        assessments: of it.
        progress: called with graphs solved and their total.

    Raises:
        InputError: its settings are damaged.
    """
    if run.settings.assessment.tables is None:
        return Unscored("no factor graphs")
    chosen = evenly_spread([one for one in assessments if one.status != "failed" and one.claims])
    found = []
    for done, assessment in enumerate(chosen):
        progress(done, len(chosen))
        believed = mean_posterior(assessment, graph(run, assessment), run.settings.assessment.solver)
        found += [] if believed is None else [believed]
    if not found:
        return Unscored("no passages in its factor graphs" if chosen else "no factor graphs")
    variables, posteriors = zip(*found, strict=True)
    return PassagePosteriors(np.array(variables, dtype=np.int64), np.array(posteriors, dtype=np.float64))


def mean_posterior(assessment: Assessment, plain: Mapping[str, Any], solver: str) -> tuple[int, float] | None:
    """The variables of a graph (`localfact.api.graph.graph`) and the mean posterior of its passages.

    None where it has no passage, or no assignment is possible.
    """
    prior, passages = plain["passage_prior"], plain["contexts"]
    built = parse_graph(plain)
    variables = max(len(built.ids), assessment.counts.get("assess", {}).get("graph_variables", 0))
    untouched = variables - len(built.ids)
    solved = marginals(built, solver=solver).marginals
    if solved is None or not len(passages) + untouched:
        return None
    return variables, (sum(solved[passage] for passage in passages) + untouched * prior) / (len(passages) + untouched)


def evenly_spread(assessments: Sequence[Assessment]) -> Sequence[Assessment]:
    """All assessments, or MOST_GRAPHS of them at even distances, the first and the last included."""
    if len(assessments) <= MOST_GRAPHS:
        return assessments
    return [assessments[place] for place in np.linspace(0, len(assessments) - 1, MOST_GRAPHS).astype(int)]
