"""Evaluating: a file of responses into a run folder, or one text. The package and the commands offer it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.errors import InputError, LocalFactError, MissingError
from localfact.inputs.responses import MAX_WORDS, read_responses, response_of, warnings_about
from localfact.methods.engine import EngineFacts, Start, engine_facts, start_engine, without_name
from localfact.methods.evidence import check_web, finish_left, with_corpus
from localfact.methods.extraction import resolve
from localfact.methods.options import Options
from localfact.methods.registry import Method, method_for
from localfact.methods.wiring import keeping, wire
from localfact.pipeline import Journey, Pipeline
from localfact.records import Assessment, Response
from localfact.report.summary import Summary, summarise
from localfact.runs.run import CONCURRENCY, CONCURRENCY_WITH_MODEL, SILENT, Progress, complete, run_and_close
from localfact.runs.run_folder import (
    RELATIONS_FILE,
    RUN_FILE,
    RunFolder,
    pending,
    read_assessments,
    read_run_file,
    settings_name,
)
from localfact.runtime.files import file_digest
from localfact.runtime.locations import data_folder
from localfact.runtime.versions import versions
from localfact.scoring import KPolicy

#: Where a run goes that was given no folder, in the folder that the command is run in.
RUNS = Path("runs")

NO_EVIDENCE = (
    "No evidence: {who} no passages, and no corpus was named. "
    "Name one with --corpus DIR (`localfact corpus build PAGES --out DIR` makes one from your own pages), or search the web "
    "with --provider duckduckgo."
)


@dataclass(frozen=True)
class Job:
    """An evaluation that is ready to be run: what `prepare` found out without loading a model.

    `facts`: of the language model, for a method that asks one; the engine that is opened is that very one. `warnings`: what a
    reader of the results must know of the input.
    """

    data: Path
    responses: tuple[Response, ...]
    method: Method
    options: Options
    settings: Mapping[str, Any]
    out: Path
    facts: EngineFacts | None = None
    warnings: tuple[str, ...] = ()

    @property
    def machine(self) -> Mapping[str, Any]:
        """How the hardware is divided; empty where no language model is run."""
        return self.facts.machine if self.facts else {}


def sample_responses() -> Path:
    """The responses of the shipped sample."""
    return data_folder("index") / "sample-responses.jsonl"


def sample_corpus() -> Path:
    """The corpus of the shipped sample."""
    return data_folder("index") / "sample"


def prepare(
    data: str | Path | None = None,
    *,
    method: str | None = None,
    options: Options | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
) -> Job:
    """Reads the input and settles everything that decides the results. No model is loaded and nothing is written.

    Args:
        data: JSONL or JSON with responses in any schema of inputs.py; the shipped sample when None, with its corpus unless the
            options name another or have the web searched, and with claims extracted unless the options say "given".
        method: a name of methods.METHODS; when None, localfact where the options name a language model, else builtin-fr2.
        options: what departs from the method's defaults.
        out: the run folder; runs/<hash of data and settings> when None.
        limit: take the first so many rows.
        max_words: refuse longer responses.

    Raises:
        InputError: the file, the method or an option cannot be used.
        MissingError: there is no evidence for any response, or the language model is not on this machine.
    """
    options = with_corpus(options or Options())
    chosen = method_for(method, options)
    if data is None:
        defaults = {"corpus": options.corpus or sample_corpus(), "claims": options.claims or "extract"}
        options = options.model_copy(update=defaults)
    if options.live:
        check_web(options)
    path = Path(data) if data is not None else sample_responses()
    responses = read_responses(path, max_words=max_words, limit=limit)
    facts = engine_facts(options) if options.names_model else None
    settings = {
        "data": {"sha256": file_digest(path), "limit": limit},
        **resolve(chosen, options, facts.identity if facts else None),
    }
    if options.corpus is None:
        responses = without_evidence_marked(responses)
    folder = Path(out) if out is not None else RUNS / settings_name(without_name(settings))
    return Job(path, tuple(responses), chosen, options, begun(settings, folder), folder, facts, warnings_about(path))


def begun(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings, with the model called as by the run that began the folder, if it is the same under another name."""
    try:
        before = read_run_file(folder)["settings"]
        return dict(before if without_name(before) == without_name(settings) else settings)
    except (LocalFactError, ValidationError):  # no run yet, or a damaged one, which `execute` says
        return dict(settings)


def without_evidence_marked(responses: Sequence[Response]) -> list[Response]:
    """Gives the responses that bring no passages a problem, there being no corpus; when none brings any, there is no point."""
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


def execute(
    job: Job,
    *,
    recall_k: KPolicy | None = None,
    concurrency: int | None = None,
    force: bool = False,
    progress: Progress = SILENT,
    start: Start = start_engine,
) -> Summary:
    """Runs a job to its end, or goes on where it stopped; a finished run is only summed up again.

    Args:
        job: from `prepare`.
        recall_k: the K of R@K and F1@K; the median of the run when None.
        concurrency: how many responses are on the road at once; None: as many as suit the method.
        force: begin the run folder again.
        progress: is told how far the run is.
        start: what loads the language model.

    Raises:
        LocalFactError: what stops the whole run. What was done is in the run folder.
    """
    # A run that begins is wired first: what is missing shall be said before a folder is made, or forgotten.
    begins = force or not (job.out / RUN_FILE).exists()
    wired = partial(wire, job.method, job.options, job.settings, job.facts, start)
    pipeline = wired() if begins else None
    notes: tuple[str, ...] = ()
    try:
        with RunFolder(job.out, job.settings, versions(), sources=sources_of(job), machine=job.machine, force=force) as folder:
            if pending(len(job.responses), folder.done):
                running, pipeline = keeping(pipeline or wired(), job.settings, job.options, folder.path / RELATIONS_FILE), None
                notes = take(job, running, folder, concurrency, progress)
            elif job.options.live:
                finish_left(job.options, job.settings, progress.count)
            summary = summarise(
                read_assessments(job.out),
                method=job.method.name,
                settings=job.settings,
                run=str(job.out),
                recall_k=recall_k,
                warnings=(*job.warnings, *folder.warnings, *notes),
                seed=job.options.seed,
            )
            folder.complete(summary.model_dump(mode="json"))
    finally:
        if pipeline is not None:
            complete(pipeline.close())
            pipeline.finish(False, progress.count)
    return summary


def take(job: Job, pipeline: Pipeline, folder: RunFolder, concurrency: int | None, progress: Progress) -> tuple[str, ...]:
    """Takes what is pending down a road that is closed behind it, and finished if nothing interrupted it; what it notes."""
    whole = False
    try:
        at_once = concurrency or (CONCURRENCY_WITH_MODEL if job.options.names_model else CONCURRENCY)
        complete(run_and_close(job.responses, pipeline, folder, progress, at_once))
        whole = True
    finally:
        pipeline.finish(whole, progress.count)
    return pipeline.notes()


def evaluate(
    data: str | Path | None = None,
    *,
    method: str | None = None,
    options: Options | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    progress: Progress = SILENT,
) -> Summary:
    """Scores the responses of a file, keeps everything in a run folder and returns the sums; see `prepare` and `execute`."""
    job = prepare(data, method=method, options=options, out=out, limit=limit, max_words=max_words)
    return execute(job, progress=progress)


def check(
    text: str,
    *,
    topic: str | None = None,
    prompt: str | None = None,
    method: str | None = None,
    options: Options | None = None,
    max_words: int = MAX_WORDS,
) -> Assessment:
    """Judges one text and returns a verdict for each of its claims; nothing is written.

    Args:
        text: any text. topic: what it is about, which resolves a leading "she" or "it". prompt: what it answers.
        method, options, max_words: as in `prepare`; without a corpus, the sample's is searched.

    Raises:
        InputError: the text is longer than `max_words`, or an option cannot be used.
    """
    response = response_of({"id": "text", "response": text, "topic": topic, "prompt": prompt}, 1, max_words)
    if response.problem is not None:
        raise InputError(response.problem)
    options = options or Options()
    options = with_corpus(options.model_copy(update={"claims": "extract"}))
    options = options.model_copy(update={"corpus": options.corpus or sample_corpus()})
    chosen = method_for(method, options)
    facts = engine_facts(options) if options.names_model else None
    pipeline = wire(chosen, options, resolve(chosen, options, facts.identity if facts else None), facts)
    whole = False
    try:
        assessment = complete(assess_one(pipeline, response))
        whole = True
    finally:
        pipeline.finish(whole, SILENT.count)
    return assessment


async def assess_one(pipeline: Pipeline, response: Response) -> Assessment:
    """One response down a road that is closed behind it."""
    try:
        return await pipeline.assess(0, response, Journey(), SILENT.count)
    finally:
        await pipeline.close()


def sources_of(job: Job) -> dict[str, str]:
    """Where things lay, for the reader of run.yaml: their content is what counts, and that is in the settings."""
    sources = {"data": str(job.data), "corpus": str(job.options.corpus or "")}
    if job.options.live:
        sources |= {"providers": ", ".join(job.options.providers)}
    transcript = job.options.transcript or job.options.replay
    if job.options.names_model:
        sources |= {"model": job.options.model or "", "transcript": str(transcript or "")}
    return sources
