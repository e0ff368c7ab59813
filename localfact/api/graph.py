"""Makes the factor graph of one response of a run again, as a file that `localfact infer` reads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.graphs import graph_of
from localfact.assess.localfact import LocalFact
from localfact.errors import InputError
from localfact.methods.factreasoner import factreasoner
from localfact.methods.settings import FactReasonerSettings, LocalFactSettings
from localfact.records import Assessment, Claim
from localfact.runs.record import RunRecord


def graph(run: RunRecord, assessment: Assessment) -> Mapping[str, Any]:
    """The graph that the verdicts of a response come from, in the schema of `inference.reading.read_graph`.

    Args:
        run: for the method's settings.
        assessment: one of that run.

    Raises:
        InputError: the run's method has no graph, or its settings are damaged.
    """
    reasoner, judged = reasoner_of(run)
    return graph_of(assessment, reasoner, judged(assessment.claims))


def reasoner_of(run: RunRecord) -> tuple[FactReasoner, Callable[[Sequence[Claim]], Sequence[Claim]]]:
    """The assessor whose graphs a run has, and which of a response's claims are in its graph.

    Raises:
        InputError: the run's method has no graph, or its settings are damaged.
    """
    if run.settings.assessment.tables is None:
        raise InputError(
            f"The method {run.settings.method} decides without a graph; factreasoner, builtin and localfact have one."
        )
    plain = run.plain_settings["assessment"]
    try:
        if "theta" in plain:
            chosen = LocalFactSettings.model_validate(plain)
            gated = LocalFact(factreasoner(chosen), theta=chosen.theta, prior_map=chosen.prior_map)
            return gated.reasoner, gated.needs_evidence
        reasoner = factreasoner(FactReasonerSettings.model_validate(plain))
        return reasoner, reasoner.needs_evidence
    except ValidationError as error:
        raise InputError(f"The settings of {run.path} are damaged: {error.errors()[0]['msg']}.") from None
