"""The runs that stand beside a paper's table: made now by methods that are named, or read from their folders."""

from collections.abc import Sequence
from pathlib import Path

from localfact.api.compare_methods import Watch, compare_methods, prepare_comparison
from localfact.api.evaluate import execute, prepare
from localfact.api.rescore import run_facts
from localfact.methods.options import Options
from localfact.papers.comparison import record_run
from localfact.papers.measured_table import MeasuredRun
from localfact.report.summary import summarise
from localfact.runs.record import read_whole_run
from localfact.scoring import KPolicy, KPrime


def run_methods(
    names: Sequence[str],
    data: Path | None,
    *,
    options: Options,
    watch: Watch,
    out: Path | None = None,
    limit: int | None = None,
) -> list[Path]:
    """Runs methods over one set of claims and passages, or goes on with what is done; returns their folders.

    Args:
        names: of the methods.
        data: a file of responses; None for the sample.
        watch: opens a progress for each run.
        out: the folder of the runs.
        limit: the most responses.
    """
    if len(names) == 1:
        given = options.model_copy(update={"claims": options.claims or "given"})
        job = prepare(data, method=names[0], options=given, out=out, limit=limit)
        with watch(names[0]) as progress:
            execute(job, progress=progress)
        return [job.out]
    comparing = prepare_comparison(names, data, options=options, out=out, limit=limit)
    return [Path(run.run) for run in compare_methods(comparing, watch).runs]


def measure_runs(folders: Sequence[Path], recall_k: KPolicy) -> list[MeasuredRun]:
    """Reads runs and sums each up, all with one K of F1@K.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    read = [read_whole_run(folder) for folder in folders]
    one_k = recall_k.fit_all(record.assessments for record in read)
    k_prime = KPrime.fit([one for record in read for one in record.assessments])
    found = []
    for record in read:
        folder, facts = record.path, run_facts(record.settings)
        summary = summarise(record.assessments, facts, run=str(folder), recall_k=one_k, k_prime=k_prime)
        names = [one.name for one in summary.scores]
        found.append(
            MeasuredRun(
                name=facts.method if folder.name == facts.method else f"{facts.method} ({folder.name})",
                method=facts.method,
                model=record.settings.model.model if record.settings.model else "",
                summary=summary,
                assessments=record.assessments,
                recorded=record_run(record.plain_settings, record.assessments, scores=names),
            )
        )
    return found
