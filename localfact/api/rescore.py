"""A run that is there already: its summary again, with another K, and why something in it failed. Nothing is run or written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.errors import InputError
from localfact.methods.settings import PARTS, upgraded
from localfact.report.run_figures import RunFacts
from localfact.report.summary import Summary, summarise
from localfact.runs.run_folder import SUMMARY_FILE, read_assessments, read_run_file
from localfact.scoring import KPolicy
from localfact.vocabulary import VerdictLabel


def finished(run_folder: str | Path) -> Summary | None:
    """The summary that a run ended with; None while it has not ended.

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
    """Why the first response or claim failed of those that failed, as an example; None where none did."""
    for assessment in read_assessments(run_folder):
        reasons = [verdict.rationale for verdict in assessment.verdicts if verdict.label is VerdictLabel.FAILED]
        reason = assessment.error or next(filter(None, reasons), None)
        if reason is not None:
            return f"{assessment.response_id}: {reason}"
    return None


def rescore(run_folder: str | Path, recall_k: KPolicy | None = None) -> Summary:
    """Sums a run up again, finished or not, perhaps with another K. Nothing is written.

    Raises:
        MissingError: there is no such run.
    """
    path = Path(run_folder)
    return summarise(read_assessments(path), run_facts(read_run_file(path)["settings"]), run=str(path), recall_k=recall_k)


def run_facts(plain: Mapping[str, Any]) -> RunFacts:
    """What a run is summed up by, from its run.yaml: of any version, so what is missing there is left out."""
    settings = upgraded(plain)
    extraction, evidence, assessment = (settings.get(part, {}) for part in PARTS)
    return RunFacts(
        method=str(settings.get("method", "unknown")),
        seed=settings.get("seed", 0),
        stride=extraction.get("stride"),
        version=assessment.get("version"),
        k=evidence.get("k", 0),
        has_corpus=bool(evidence.get("corpus")),
        asks_model="model" in settings,
    )
