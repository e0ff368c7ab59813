"""Runs several methods over one set of claims, passages, relations and calls, and compares them.

The claims are taken from the responses, and their passages found, once, and written into a file; every method then reads that
file, relations are predicted once, and what a language model was asked and answered is in one transcript.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from localfact.api.compare import compare_runs
from localfact.api.evaluate import RUNS, Job, execute, prepare, without_evidence_marked
from localfact.api.extract import response_row
from localfact.api.sample import sample_corpus, sample_responses
from localfact.errors import InputError
from localfact.inputs.claims import claim_row
from localfact.inputs.responses import MAX_WORDS, read_responses
from localfact.inputs.row_files import data_digest
from localfact.llm.cores.sharing import EngineOwner, Start, start_engine
from localfact.methods.options import Options
from localfact.methods.parts import RunPart
from localfact.methods.registry import find_method
from localfact.methods.uses import keep_used, parts_of, used_options
from localfact.methods.wiring import Configuration, configure, wire
from localfact.pipeline import Pipeline, observe_usage
from localfact.records import Evidence, Response
from localfact.report.comparison import RunsCompared
from localfact.runs.passes import PassOptions, make_file
from localfact.runs.progress import Progress
from localfact.runs.row_file import Row
from localfact.runs.run_folder import CALLS_FILE, RELATIONS_FILE, settings_name
from localfact.runtime.tasks import complete
from localfact.runtime.usage import Ledger, usage_counted_in
from localfact.runtime.versions import versions
from localfact.scoring import KPolicy

#: In the folder of a comparison: claims and passages that all methods judge.
COMMON_FILE = "claims.jsonl"
#: (what is run) -> a context that shows its progress.
Watch = Callable[[str], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Comparing:
    """Methods that are ready to be run over one set of claims; nothing is loaded or written yet.

    Attributes:
        data: the responses.
        methods: their names.
        options: what departs from their defaults.
        folder: of the whole comparison.
        limit: only the first so many rows.
        common: the method whose extraction and retrieval serve all.
    """

    data: Path
    methods: tuple[str, ...]
    options: Options
    folder: Path
    limit: int | None
    common: Configuration

    def options_of(self, method: str) -> Options:
        """What the method is run with: the claims and passages of all, one cache, one transcript."""
        changes: dict[str, Any] = {
            "claims": "given",
            "corpus": None,
            "extractor": None,
            "relations_cache": self.folder / RELATIONS_FILE,
        }
        return used_options(find_method(method), self.options.model_copy(update=changes))


def prepare_comparison(
    methods: Sequence[str],
    data: Path | None = None,
    *,
    options: Options | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
) -> Comparing:
    """Finds the methods, the data and the folder; nothing is loaded or written.

    Args:
        methods: two names of registry.METHODS or more, each once; the first is compared with the others.
        data: responses in any schema of inputs/responses.py; the shipped sample, with its corpus and its claims, when None.
        options: what departs from the methods' defaults.
        out: the folder; runs/compare-<hash> when None.
        limit: only the first so many responses.

    Raises:
        InputError: an unknown method, fewer than two, one twice, or an option that one cannot use.
        MissingError: something that the options name is missing.
    """
    if len(methods) < 2 or len(set(methods)) != len(methods):
        raise InputError(
            "Name two different methods or more: --methods builtin-fr1,builtin-fr2. `localfact methods` lists them."
        )
    options = options or Options()
    for name in methods:
        if find_method(name).model == "required" and not options.names_model:
            raise InputError(f"The method {name} asks a language model: name one with --model (`localfact models list`).")
    if data is None:
        options = options.model_copy(update={"corpus": options.corpus or sample_corpus()})
    has = set[RunPart]().union(*(parts_of(find_method(name), options) for name in methods))
    options = keep_used(options, has, f"the methods {', '.join(methods)}")
    path = data or sample_responses()
    folder = Path(out) if out is not None else RUNS / f"compare-{_name(path, methods, options, limit)}"
    if options.names_model and options.replay is None:
        options = options.model_copy(update={"transcript": options.transcript or folder / CALLS_FILE})
    asking = next((name for name in methods if find_method(name).model != "none"), methods[0])
    chosen = {name: configure(name, used_options(find_method(name), options)) for name in methods}
    comparing = Comparing(path, tuple(methods), options, folder, limit, chosen[asking])
    _usable(comparing)
    return comparing


def compare_methods(
    comparing: Comparing,
    watch: Watch,
    *,
    one_sided: bool = False,
    recall_k: KPolicy | None = None,
    force: bool = False,
    start: Start = start_engine,
) -> RunsCompared:
    """Runs or resumes the methods one after the other, and compares them.

    Args:
        comparing: from `prepare_comparison`.
        watch: shows the progress of each step. one_sided, recall_k: as `compare_runs`.
        force: begins the run folders again; claims, relations and calls are kept.
        start: loads the language model.

    Raises:
        LocalFactError: one that stops a whole run. What is done is in the folder, and the same call goes on from there.
    """
    owner = EngineOwner(start)
    try:
        with watch("Claims and passages for all methods") as progress:
            calls = complete(_common(comparing, progress, owner.share))
        jobs = [_job(comparing, name) for name in comparing.methods]
        for number, (name, job) in enumerate(zip(comparing.methods, jobs, strict=True), start=1):
            with watch(f"Method {number} of {len(jobs)}: {name}") as progress:
                execute(job, recall_k=recall_k, force=force, progress=progress, start=owner.share)
    finally:
        complete(owner.keep_only(None))
    seed = comparing.options.seed
    folders = [job.out for job in jobs]
    compared = compare_runs(folders, one_sided=one_sided, recall_k=recall_k, seed=seed, names=comparing.methods)
    return compared.model_copy(update={"common_calls": calls})


def _job(comparing: Comparing, method: str) -> Job:
    options = comparing.options_of(method)
    return prepare(comparing.folder / COMMON_FILE, method=method, options=options, out=comparing.folder / method)


def _usable(comparing: Comparing) -> list[Response]:
    """The responses; without a corpus, those that bring no passages are marked as unusable.

    Raises:
        InputError: the file cannot be read. MissingError: there is no evidence for any response.
    """
    responses = read_responses(comparing.data, max_words=MAX_WORDS, limit=comparing.limit)
    return responses if comparing.options.corpus is not None else without_evidence_marked(responses)


async def _common(comparing: Comparing, progress: Progress, start: Start) -> int:
    """Writes or completes the file of claims and passages; returns how many calls of a language model it took in all."""
    chosen = comparing.common
    settings = {
        "pass": "compare",
        "data": {"sha256": data_digest(comparing.data), "limit": comparing.limit},
        **{name: part for name, part in chosen.settings.plain().items() if name not in ("method", "assessment", "data")},
    }

    def open_maker(opened: AsyncExitStack) -> Callable[[Response], Any]:
        pipeline, _ = wire(chosen, opened, observe=progress.count, start=start)
        given = chosen.settings.extraction.claims == "given"
        return partial(_row, pipeline=pipeline, given=given, progress=progress)

    pass_options = PassOptions(versions=versions(), progress=progress)
    file = comparing.folder / COMMON_FILE
    rows, _ = await make_file(comparing.data, _usable(comparing), file, settings, open_maker, response_row, pass_options)
    return sum(int(stage["calls"]) for row in rows for stage in row.get("usage", {}).values())


async def _row(response: Response, *, pipeline: Pipeline, given: bool, progress: Progress) -> Row:
    """A response with the claims and the passages that all methods judge.

    Claims that come with it are taken as they are. What an extractor thinks of its own claims stays behind: each method asks
    for itself, so that none of them gains by being named first.
    """
    ledger = Ledger(watch=partial(observe_usage, progress.count))
    with usage_counted_in(ledger):
        if given and response.claims is not None:
            claims = response.claims
        else:
            extraction = await pipeline.extractor.extract(response)
            claims = tuple(claim.model_copy(update={"preverification": None}) for claim in extraction.claims)
        evidence = await pipeline.retriever.retrieve(response, claims) if claims else Evidence()
    if evidence.failures:
        raise InputError(next(iter(evidence.failures.values())))
    progress.count("claims", len(claims))
    found: Mapping[str, list[str]] = {
        claim: list(dict.fromkeys(hit.passage_id for hit in hits)) for claim, hits in evidence.hits.items()
    }
    return {
        **response_row(response.model_copy(update={"evidence": evidence})),
        "claims": [claim_row(claim) | {"passages": found.get(claim.id, [])} for claim in claims],
        "usage": ledger.repeatable(),
    }


def _name(data: Path, methods: Sequence[str], options: Options, limit: int | None) -> str:
    """A hash of data, methods and options; a missing file is reported later, with a better message."""
    chosen = options.model_dump(mode="json", exclude={"transcript"})
    digest = data_digest(data) if data.exists() else ""
    return settings_name({"data": digest, "limit": limit, "methods": list(methods), "options": chosen})
