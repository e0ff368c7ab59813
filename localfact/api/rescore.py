"""Summarises an existing run again, with another K for example, and finds why something in it failed.

Runs and writes nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.errors import InputError
from localfact.methods.registry import METHODS
from localfact.report.run_figures import RunFacts
from localfact.report.summary import Summary, summarise
from localfact.runs.assessments import assessments_in_order
from localfact.runs.outlines import read_outlines
from localfact.runs.run_folder import SUMMARY_FILE, read_run_file
from localfact.scoring import KPolicy
from localfact.vocabulary import VerdictLabel


def finished(run_folder: str | Path) -> Summary | None:
    """The stored summary of a run; None where it has not finished.

    Raises:
        MissingError: there is no such run. InputError: its summary is damaged.
    """
    path = Path(run_folder)
    read_run_file(path)
    if not (path / SUMMARY_FILE).is_file():
        return None
    try:
        return Summary.model_validate_json((path / SUMMARY_FILE).read_bytes())
    except ValidationError:
        raise InputError(f"{path / SUMMARY_FILE} is damaged. `localfact score {path}` makes the sums anew.") from None


def first_failure(run_folder: Path) -> str | None:
    """Why the first failed response or claim failed, as an example; None where none did."""
    for assessment in assessments_in_order(run_folder):
        reasons = [verdict.rationale for verdict in assessment.verdicts if verdict.label is VerdictLabel.FAILED]
        reason = assessment.error or next(filter(None, reasons), None)
        if reason is not None:
            return f"{assessment.response_id}: {reason}"
    return None


def rescore(run_folder: str | Path, recall_k: KPolicy | None = None) -> Summary:
    """Summarises a run again, finished or not, perhaps with another K. Nothing is written.

    Raises:
        MissingError: there is no such run.
    """
    path = Path(run_folder)
    return summarise(read_outlines(path), run_facts(read_run_file(path)["settings"]), run=str(path), recall_k=recall_k)


def run_facts(plain: Mapping[str, Any]) -> RunFacts:
    """The facts of a run that its summary needs, from its run.yaml.

    Raises:
        InputError: the settings are none of a run.
    """
    try:
        return _run_facts(plain)
    except (ValidationError, AttributeError, KeyError, TypeError):
        raise InputError(
            "The settings in run.yaml are damaged: begin again with --force, or name another with --out."
        ) from None


def _run_facts(settings: Mapping[str, Any]) -> RunFacts:
    extraction, evidence, assessment = (settings[part] for part in ("extraction", "evidence", "assessment"))
    method = str(settings.get("method", "unknown"))
    return RunFacts(
        method=method,
        seed=settings.get("seed", 0),
        stride=extraction.get("stride"),
        version=assessment.get("version"),
        k=evidence.get("k", 0),
        queries_per_claim=evidence.get("queries_per_claim", 1),
        steps=evidence.get("steps", 1),
        cost=METHODS[method].cost if method in METHODS else "",
        has_corpus=bool(evidence.get("corpus")),
        asks_model="model" in settings,
        **{name: value for name, value in settings.get("asking", {}).items() if name in RunFacts.model_fields},
    )
