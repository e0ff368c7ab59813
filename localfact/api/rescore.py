"""Summarises an existing run again, with another K for example, and finds why something in it failed.

Runs and writes nothing.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from localfact.api.sample import sample_identity
from localfact.errors import InputError
from localfact.methods.extraction import asks_extracted_labels
from localfact.methods.registry import METHODS
from localfact.report.run_figures import RunFacts
from localfact.report.summary import Summary, summarise
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import RunRecord, RunSettings, read_record
from localfact.runs.run_folder import SUMMARY_FILE, read_run_file
from localfact.scoring import KPolicy
from localfact.vocabulary import VerdictLabel


def read_finished_summary(run_folder: str | Path) -> Summary | None:
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
    return summarise_record(read_record(Path(run_folder)), recall_k)


def summarise_record(record: RunRecord, recall_k: KPolicy | None = None, warnings: Sequence[str] = ()) -> Summary:
    """Summarises a run that was read; `warnings` are put before those that the assessments give."""
    facts = run_facts(record.settings)
    return summarise(record.outlines, facts, run=str(record.path), recall_k=recall_k, warnings=warnings)


def run_facts(settings: RunSettings) -> RunFacts:
    """The facts of a run that its summary needs."""
    method = settings.method
    return RunFacts(
        method=method,
        seed=settings.seed,
        stride=settings.extraction.stride,
        asks_labels=asks_extracted_labels(settings.extraction.confidence, guided=bool(settings.asking.guided)),
        version=settings.assessment.version,
        k=settings.evidence.k,
        queries_per_claim=settings.evidence.queries_per_claim,
        steps=settings.evidence.steps,
        cost=METHODS[method].cost if method in METHODS else "",
        has_corpus=bool(settings.evidence.corpus),
        asks_model=settings.model is not None,
        of_sample=settings.evidence.corpus == sample_identity(),
        warn_mass=settings.asking.warn_mass,
    )
