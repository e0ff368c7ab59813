"""The factor graph of one response of a run, which `infer` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.assess.graphs import graph_of
from localfact.assess.localfact import LocalFact
from localfact.errors import InputError
from localfact.methods.factreasoner import factreasoner
from localfact.methods.settings import FactReasonerSettings, LocalFactSettings
from localfact.records import Assessment
from localfact.runs.run_folder import read_run_file


def graph(run_folder: str | Path, assessment: Assessment) -> Mapping[str, Any]:
    """The graph that the verdicts of a response come from, in the schema of `inference.reading.read_graph`.

    Raises:
        MissingError: there is no such run. InputError: its method has no graph, or its settings are damaged.
    """
    settings = read_run_file(Path(run_folder))["settings"]
    plain = settings.get("assessment", {})
    if "tables" not in plain:
        method = settings.get("method")
        raise InputError(f"The method {method} decides without a graph; factreasoner, builtin and localfact have one.")
    try:
        if "theta" in plain:
            chosen = LocalFactSettings.model_validate(plain)
            gated = LocalFact(factreasoner(chosen), theta=chosen.theta, prior_map=chosen.prior_map)
            return graph_of(assessment, gated.reasoner, gated.needs_evidence(assessment.claims))
        return graph_of(assessment, factreasoner(FactReasonerSettings.model_validate(plain)), assessment.claims)
    except ValidationError as error:
        raise InputError(f"The settings of {run_folder} are damaged: {error.errors()[0]['msg']}.") from None
