"""Table 10 of FactReasoner: FR1, FR2 and FR3 by relation model, each a run of its own in a subfolder.

FR1 is run first and FR3, which relates all passages, last; the language model after other relation models. The pairs of FR1
are among those of FR2, and these among those of FR3, and one file keeps the predictions of all rows, so no pair is asked twice.
A language model starts once, and not at all for rows that have nothing to ask. Where it also extracts claims, one transcript
for all rows makes every row judge the same claims. `table10_view.py` adds the paper's rows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localfact.api.evaluate import RUNS, Job, execute, prepare
from localfact.api.sample import sample_responses
from localfact.errors import InputError
from localfact.inputs.responses import read_responses
from localfact.llm.cores.sharing import EngineOwner, Start, start_engine
from localfact.methods.options import Options
from localfact.methods.parts import RunPart
from localfact.methods.registry import find_method
from localfact.methods.relations import DEFAULT_RELATIONS, LLM, relation_kind
from localfact.methods.uses import keep_used, parts_of, used_options
from localfact.models.cards import load_card, weights_folder
from localfact.papers.comparison import Recorded, record_run
from localfact.report.summary import Summary
from localfact.runs.progress import Progress
from localfact.runs.record import read_whole_run
from localfact.runs.run_folder import CALLS_FILE, RELATIONS_FILE, settings_name
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete
from localfact.scoring import KPolicy, Score, ScoreResult, score
from localfact.scoring.gold_scores import BrierPerResponse, GoldF1, PrecisionError
from localfact.scoring.recall import MEDIAN
from localfact.scoring.scores import Entropy, F1AtK, Precision, VerdictCount

#: The table's columns of scores, in their order.
COLUMNS = ("#S", "#C", "#U", "Pr", "F1", "F1@K", "MAE", "E", "Brier")
#: The order of the runs, and of the rows.
RUN_ORDER = (1, 2, 3)
#: The relation models of the paper's table, and the one that needs nothing downloaded.
AS_PUBLISHED = ("albert-vitaminc", LLM)
NO_DOWNLOAD = (DEFAULT_RELATIONS,)
#: Passages of a claim, as in the paper's runs with Wikipedia (section 4).
K = 3


@dataclass(frozen=True)
class RowJob:
    """One row still to be run: FR1, FR2 or FR3 with the relation model of that name."""

    relations: str
    version: int
    job: Job

    @property
    def name(self) -> str:
        """Its name in progress and notes."""
        return f"FR{self.version} with {self.relations}"


@dataclass(frozen=True)
class Row:
    """One row: its run, the run's summary, the scores of the table's columns, and what is held against the paper."""

    run: RowJob
    summary: Summary
    scores: dict[str, ScoreResult]
    recorded: Recorded


#: (name of a row) -> a context that shows its progress.
Watch = Callable[[str], AbstractContextManager[Progress]]


def row_jobs(
    data: Path | None,
    *,
    relations: Sequence[str],
    options: Options,
    versions: Sequence[int] = RUN_ORDER,
    out: Path | None = None,
    limit: int | None = None,
) -> list[RowJob]:
    """All rows, ready to run, in their order; nothing is run and no model is loaded.

    Args:
        data: responses in any schema of inputs/responses.py; the shipped sample when None.
        relations: names of relation models; when empty, the paper's two where the options name a language model, else the
            one that needs no download.
        options: tables, solver, language model and evidence; claims that come with a response are used as they are.
        out: the folder of all rows; runs/table10-<hash of data and options> when None.
        versions: which of FR1 to FR3.
        limit: only the first so many responses, of every row.

    Raises:
        MissingError: weights that some row needs are not on this machine.
        InputError: as `api.evaluate.prepare`.
    """
    names, options, folder = settle(data, relations, options, out, limit)
    methods = {version: find_method(f"factreasoner-fr{version}") for version in sorted(set(versions))}
    of_names = [options.model_copy(update={"relations": name}) for name in names]
    has = set[RunPart]().union(*(parts_of(method, one) for method in methods.values() for one in of_names))
    options = keep_used(options, has, f"a table of {', '.join(names)}")
    check_weights(names, options)
    extracts = options.revise is not None or any(
        one.problem is None and one.claims is None for one in read_responses(data or sample_responses(), limit=limit)
    )
    return [
        RowJob(
            name,
            version,
            prepare(
                data,
                method=method.name,
                options=used_options(method, options_for(name, options, folder, extracts=extracts)),
                out=folder / folder_name(name) / f"fr{version}",
                limit=limit,
            ),
        )
        for name in names
        for version, method in methods.items()
    ]


def settle(
    data: Path | None, relations: Sequence[str], options: Options, out: Path | None, limit: int | None
) -> tuple[list[str], Options, Path]:
    """The relation models in the order of their rows, the options of all rows, and their folder."""
    names = list(dict.fromkeys(relations)) or list(AS_PUBLISHED if options.names_model else NO_DOWNLOAD)
    options = options.model_copy(update={"claims": "given", "k": options.k or K})
    return sorted(names, key=LLM.__eq__), options, out or RUNS / f"table10-{rows_name(data, options, limit)}"


def read_versions(typed: str) -> list[int]:
    """The versions in a text like "fr1,fr2".

    Raises:
        InputError: there is no such version.
    """
    known = {name: version for version in RUN_ORDER for name in (f"fr{version}", str(version))}
    words = [word.strip().lower() for word in typed.split(",") if word.strip()]
    if not words or not set(words) <= set(known):
        raise InputError(f"--versions cannot be {typed!r:.100}. Take fr1, fr2 and fr3, with commas between them.")
    return sorted({known[word] for word in words})


def check_weights(names: Sequence[str], options: Options) -> None:
    """Raises MissingError for the first model whose weights are not on this machine, the language model before others."""
    if options.model is not None and options.replay is None:
        weights_folder(load_card(options.model))
    for name in names:
        relation_kind(name).check(options)


def options_for(name: str, options: Options, folder: Path, *, extracts: bool) -> Options:
    """The options of one relation model's rows; a language model that has nothing to do is not loaded."""
    changes: dict[str, Any] = {"relations": name, "relations_cache": folder / RELATIONS_FILE}
    if name != LLM:
        changes["probability"] = "normalised"  # of an encoder there is no other
    if name != LLM and not extracts:
        changes |= {"model": None, "engine_args": {}, "transcript": None, "replay": None}
    elif extracts and options.names_model and options.replay is None:
        # Asked again, the language model might extract other claims for another row.
        changes |= {"transcript": options.transcript or folder / CALLS_FILE}
    return options.model_copy(update=changes)


def rows_name(data: Path | None, options: Options, limit: int | None) -> str:
    """A hash of what all rows share; a missing file is reported later, with a better message."""
    path = data or sample_responses()
    apart = {"relations", "relations_cache", *(("extractor",) if options.extractor is None else ())}
    chosen = options.model_dump(mode="json", exclude=apart)
    return settings_name({"data": file_digest(path) if path.is_file() else "", "limit": limit, "options": chosen})


def folder_name(relations: str) -> str:
    """A relation model's name, which may be a path or a hub id, as the name of one folder."""
    return "".join(character if character.isalnum() or character in "-_." else "-" for character in relations).strip(".-")


def run_rows(
    jobs: Sequence[RowJob],
    watch: Watch,
    *,
    recall_k: KPolicy | None = None,
    force: bool = False,
    start: Start = start_engine,
) -> Iterator[Row]:
    """Runs or resumes the rows one after another, and yields each when it is done.

    Args:
        jobs: from `row_jobs`.
        watch: gives each row's progress.
        recall_k: the K of F1@K, the median when None.
        force: begins the run folders again; cached predictions and extracted claims are kept.
        start: loads the language model.

    Raises:
        LocalFactError: one that stops a whole run. The results so far are in the folders.
    """
    owner = EngineOwner(start)
    try:
        for number, one in enumerate(jobs, start=1):
            # Ended between rows, as it would hold memory that the next row's models need.
            complete(owner.keep_only(one.job.chosen.facts.settings if one.job.chosen.facts else None))
            # With pairs kept by another row of it there may be nothing to ask: then no model is loaded.
            share = owner.share if one.job.out.parent.exists() else owner.share_started
            with watch(f"Row {number} of {len(jobs)}: {one.name}") as progress:
                summary = execute(one.job, recall_k=recall_k, force=force, progress=progress, start=share)
            yield row_of(one, summary, recall_k or MEDIAN)
    finally:
        complete(owner.keep_only(None))


def row_of(one: RowJob, summary: Summary, recall_k: KPolicy) -> Row:
    """The row of a run that is done."""
    record = read_whole_run(one.job.out)
    results = score(record.assessments, columns(recall_k), seed=one.job.chosen.options.seed)
    names = [result.name for result in results]
    recorded = record_run(record.plain_settings, record.assessments, given=one.job.responses, scores=names)
    return Row(one, summary, dict(zip(COLUMNS, results, strict=True)), recorded)


def columns(k: KPolicy) -> list[Score[Any]]:
    """The scores of the table, in the order of COLUMNS."""
    counts = [VerdictCount("S"), VerdictCount("C"), VerdictCount("U")]
    return [*counts, Precision(), GoldF1(), F1AtK(k), PrecisionError(), Entropy(), BrierPerResponse()]
