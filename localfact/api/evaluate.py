"""Evaluates responses, of a file or given as objects, into a run folder."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from localfact.api.arguments import read_options, require_count, require_progress
from localfact.api.data import Data, read_data
from localfact.api.report import write_report
from localfact.api.rescore import summarise_record
from localfact.api.sample import sample_corpus, sample_responses, with_recording
from localfact.api.windows import check_windows, window_warnings
from localfact.errors import InputError, LocalFactError, MissingError, RunFolderError
from localfact.inputs.responses import MAX_WORDS
from localfact.llm.calls import identity_fields
from localfact.llm.cores.sharing import Start, start_engine
from localfact.llm.engine import EngineIdentity
from localfact.methods.engine import same_model
from localfact.methods.fitted_map import require_map, with_fitted_map, with_recorded_map
from localfact.methods.options import Options
from localfact.methods.settings import DataSettings, Settings
from localfact.methods.web import Notes, check_web, finish_left, with_corpus
from localfact.methods.wiring import Configuration, configure, wire, with_cache
from localfact.models.cards import WITHDRAWN
from localfact.pipeline import Pipeline, ResponseAssessor
from localfact.records import Response
from localfact.report.summary import Summary
from localfact.runs.progress import SILENT, Progress
from localfact.runs.record import read_record, read_run
from localfact.runs.run import CONCURRENCY, CONCURRENCY_WITH_MODEL, run
from localfact.runs.run_folder import RELATIONS_FILE, RUN_FILE, SHOWN, RunFolder, pending_indices, settings_name
from localfact.runs.shards import Shard
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete
from localfact.runtime.versions import versions
from localfact.scoring import KPolicy
from localfact.text import path_text

#: The folder of runs without an `out` folder, in the current folder.
RUNS = Path("runs")

NO_EVIDENCE = (
    "No evidence: {who} no passages, and no corpus was named. "
    "Name one with --corpus DIR (`localfact corpus build PAGES --out DIR` makes one from your own pages), or search the web "
    "with --provider duckduckgo."
)


@dataclass(frozen=True)
class Job:
    """An evaluation that is ready to run, prepared without loading a model.

    Attributes:
        data: where the responses are from.
        out: the run folder.
        warnings: about the input, for the reader of the results.
        shard: which share of the responses is run here; None for all.
    """

    data: str
    responses: tuple[Response, ...]
    chosen: Configuration
    out: Path
    warnings: tuple[str, ...] = ()
    shard: Shard | None = None

    @property
    def indices(self) -> range:
        """The positions, from 0, of the responses that are run here."""
        return range(len(self.responses)) if self.shard is None else self.shard.indices(len(self.responses))


def prepare(
    data: Data | None = None,
    *,
    method: str | None = None,
    options: Options | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    shard: Shard | None = None,
    planning: bool = False,
) -> Job:
    """Reads the input and determines everything that decides the results. No model is loaded and nothing is written.

    Args:
        shard: runs this share of the responses alone; `api/merge.py` makes one run of all shares.
        planning: for `api.plan`: a language model need not be here. The others, and the errors, are those of `evaluate`.
    """
    require_count("limit", limit)
    require_count("max_words", max_words)
    if out is not None and not (isinstance(out, Path) or (isinstance(out, str) and out)):
        raise InputError(f"out takes the path of a run folder, not {out!r:.100}; leave it out for one in {RUNS}.")
    options = with_recording(with_corpus(read_options(options)), of_sample=data is None)
    if data is None:
        defaults = {"corpus": options.corpus or sample_corpus(), "claims": options.claims or "extract"}
        options = options.model_copy(update=defaults)
    if options.live:
        check_web(options)
    given = read_data(data if data is not None else sample_responses(), max_words=max_words, limit=limit)
    chosen = configure(method, options, planning=planning)
    read = DataSettings(sha256=given.sha256, limit=limit, shard=None if shard is None else str(shard))
    settings = chosen.settings.model_copy(update={"data": read})
    needs_none = options.corpus is not None or options.coherence
    responses = given.responses if needs_none else without_evidence_marked(given.responses)
    folder = Path(out) if out is not None else RUNS / run_name(settings.plain())
    chosen = replace(chosen, settings=name_as_recorded(settings, folder))
    if shard is not None:
        require_map(chosen.settings, "Shards")
    return Job(given.name, tuple(responses), chosen, folder, given.warnings, shard)


def run_name(settings: Mapping[str, Any]) -> str:
    """The name of a run's folder: a hash of the settings, independent of the model's name."""
    model = settings.get("model")
    decides = {} if model is None else {"model": identity_fields(EngineIdentity.model_validate(model))}
    return settings_name({**settings, **decides})


def name_as_recorded(settings: Settings, folder: Path) -> Settings:
    """The settings, with model and map of relations as in the run folder: a run can go on under another name of the model."""
    model = settings.model
    if model is None:
        return settings
    try:
        plain = read_run(folder).plain_settings
        before = EngineIdentity.model_validate(plain.get("model"))
        settings = with_recorded_map(settings, plain)
    except (LocalFactError, ValidationError):  # no run yet, or a damaged one, which `execute` reports
        return settings
    return settings.model_copy(update={"model": before}) if same_model(before, model) else settings


def without_evidence_marked(responses: Sequence[Response]) -> list[Response]:
    """Marks the responses that bring no passages as unusable, as there is no corpus.

    Raises:
        MissingError: no response brings any.
    """
    usable = [response for response in responses if response.problem is None]
    if usable and all(response.evidence is None for response in usable):
        raise MissingError(NO_EVIDENCE.format(who="the responses bring"))
    problem = NO_EVIDENCE.format(who="the response brings")
    return [
        response
        if response.problem is not None or response.evidence is not None
        else response.model_copy(update={"problem": problem})
        for response in responses
    ]


class Opened(NamedTuple):
    """What assesses the responses of a run; `at_once`: how many of them, None for the usual number."""

    assessor: ResponseAssessor
    notes: Notes
    at_once: int | None = None


#: Opens it, and registers with the stack what must be closed.
Opener = Callable[[Configuration, AsyncExitStack, Progress, Start], Opened]


def wire_interruptibly(chosen: Configuration, opened: AsyncExitStack, progress: Progress, start: Start) -> Opened:
    """Calls `wire`, which blocks, so that Ctrl-C interrupts it."""
    with interruptible():
        return Opened(*wire(chosen, opened, observe=progress.count, start=start))


def execute(
    job: Job,
    *,
    recall_k: KPolicy | None = None,
    concurrency: int | None = None,
    force: bool = False,
    progress: Progress = SILENT,
    start: Start = start_engine,
    open_assessor: Opener = wire_interruptibly,
) -> Summary:
    """Runs a job to its end, or resumes it; a finished run is only summed up again.

    Args:
        job: from `prepare`.
        recall_k: the K of R@K and F1@K; the median of the run when None.
        concurrency: how many responses are assessed at once; None for the default of the method.
        force: begins the run folder again.
        progress: gets reports on how far the run is.
        start: loads the language model.
        open_assessor: opens what assesses the responses: models and corpus in this process, by default.

    Raises:
        LocalFactError: one that stops the whole run. The results so far are in the run folder.
    """
    return complete(execute_async(job, recall_k, concurrency, force, progress, start, open_assessor))


async def execute_async(
    job: Job,
    recall_k: KPolicy | None,
    concurrency: int | None,
    force: bool,
    progress: Progress,
    start: Start,
    open_assessor: Opener,
) -> Summary:
    """The coroutine behind `execute`."""
    chosen = job.chosen
    async with AsyncExitStack() as opened:
        wired = partial(open_assessor, chosen, opened, progress, start)
        # A new run is wired first, so that missing things are reported before a folder is made, or its content discarded.
        ready = wired() if force or not (job.out / RUN_FILE).exists() else None
        settings = await with_fitted_map(chosen.settings, ready and ready.assessor)
        with open_folder(job, settings, force=force) as folder:
            check_windows(folder, None if chosen.facts is None else chosen.facts.identity.window)
            notes: tuple[str, ...] = ()
            if pending_indices(job.indices, folder.done):
                ready = ready or wired()
                assessor = ready.assessor
                if isinstance(assessor, Pipeline):
                    assessor = with_cache(assessor, chosen, folder.path / RELATIONS_FILE, opened)
                at_once = concurrency or ready.at_once or usual_concurrency(chosen)
                await run(job.responses, assessor, folder, progress, at_once, job.indices)
                notes = ready.notes()
            elif chosen.options.live:
                await finish_left(chosen.options, chosen.settings.evidence, progress.count)
            await opened.aclose()  # finishes a corpus that was added to, before the run is summed up
            record = read_record(job.out, most=SHOWN, opened=folder.unchanged)
            warnings = (*job.warnings, *folder.warnings, *notes, *window_warnings(folder, chosen.settings.model))
            summary = summarise_record(record, recall_k, warnings)
            folder.complete(summary.model_dump(mode="json"))
            write_report(job.out, record=record, summary=summary)
            return summary


def open_folder(job: Job, settings: Settings, *, force: bool) -> RunFolder:
    """The run's folder; of one that was begun with a model that is withdrawn, the error says so."""
    try:
        return RunFolder(job.out, settings.plain(), versions(), notes=notes_of(job), force=force)
    except RunFolderError as error:
        told = [sentence for name, sentence in WITHDRAWN.items() if f"{name}@" in str(error)]
        if not told:
            raise
        raise RunFolderError(" ".join([str(error), *told])) from error


def usual_concurrency(chosen: Configuration) -> int:
    """The default number of responses that are assessed at once."""
    return CONCURRENCY if chosen.facts is None else chosen.facts.at_once(CONCURRENCY_WITH_MODEL)


def evaluate(
    data: Data | None = None,
    *,
    method: str | None = None,
    options: Options | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    progress: Progress = SILENT,
) -> Summary:
    """Scores responses, stores everything in a run folder and returns the summary; called again, it goes on where it stopped.

    Args:
        data: a file or a folder in a form of docs/inputs.md, or a list of texts and of mappings as in such a file; the sample
            when None, with its corpus unless the options name another or the web, and claims extracted unless they say "given".
        method: as `localfact methods` lists them; when None, localfact where the options name a model, else builtin-fr2.
        options: what departs from the method's defaults.
        out: the run folder; runs/<hash of data and settings> when None.
        limit, max_words: only the first so many rows; longer responses are refused.
        progress: gets reports on how far the run is.

    Raises:
        InputError: the file, the method or an option cannot be used.
        MissingError: no response has evidence, or the language model is not on this machine.
    """
    require_progress(progress)
    job = prepare(data, method=method, options=options, out=out, limit=limit, max_words=max_words)
    return execute(job, progress=progress)


def notes_of(job: Job) -> dict[str, dict[str, Any]]:
    """Notes for readers of run.yaml: paths and placement. They decide no results: the files' hashes, in the settings, do."""
    options, facts = job.chosen.options, job.chosen.facts
    sources = {"data": job.data, "corpus": path_text(options.corpus or "")}
    sources |= {"providers": ", ".join(options.providers)} if options.live else {}
    if facts is not None:
        named = options.model if options.replay is None else None
        sources |= {"model": named or facts.identity.model, "transcript": path_text(options.transcript or "")}
    if options.replay is not None:
        sources["replayed from"] = path_text(options.replay)
    return {"sources": sources, "machine": dict(facts.machine) if facts else {}}
