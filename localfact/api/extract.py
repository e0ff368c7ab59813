"""Extracts the claims of responses, file to file, so that one model can extract and another judge.

A row of claims is the response with the extractor's claims in place of the annotator's, which are stored beside them, in the
schema that `inputs/` reads.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from localfact.inputs.claims import claim_row
from localfact.inputs.responses import MAX_WORDS, read_responses
from localfact.inputs.row_files import data_digest
from localfact.methods.engine import EngineFacts, engine_facts, open_engine
from localfact.methods.extraction import CHUNKED, EXTRACTORS, extraction_settings, open_extractor, pass_settings
from localfact.methods.options import Options
from localfact.methods.uses import extractor_parts, keep_used
from localfact.models.embedder import NO_EMBEDDER
from localfact.pipeline import observe_usage
from localfact.records import Extraction, GivenSource, Passage, Response
from localfact.runs.passes import DEFAULT_PASS_OPTIONS, Make, PassOptions, PassSummary, failure_warnings, make_file, present
from localfact.runs.progress import Progress
from localfact.runs.row_file import ERROR, Row
from localfact.runs.run import CONCURRENCY_OF_CALLS
from localfact.runtime.tasks import complete
from localfact.runtime.usage import Ledger, usage_counted_in
from localfact.runtime.versions import versions
from localfact.stages import ClaimExtractor


def extract_claims(
    data: str | Path,
    out: str | Path,
    *,
    options: Options,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    pass_options: PassOptions = DEFAULT_PASS_OPTIONS,
) -> PassSummary:
    """Extracts claims with their pre-verification into a file that `evaluate` reads; see `extract_file`.

    Raises:
        LocalFactError: one that stops the whole pass. The rows made before are kept.
    """
    name = options.extractor or CHUNKED
    options = keep_used(options, extractor_parts(name), f"the extractor {name}")
    options = options.model_copy(update={"claims": "extract", "embedder": NO_EMBEDDER})
    settings = extraction_settings(CHUNKED, options)
    facts = engine_facts(options) if EXTRACTORS[settings.extractor].asks_model else None

    def opened_extractor(opened: AsyncExitStack) -> ClaimExtractor:
        engine = open_engine(options, opened, facts) if facts is not None else None
        return open_extractor(settings, engine, options.seed)

    return complete(
        extract_file(
            Path(data),
            Path(out),
            opened_extractor,
            extractor=pass_settings(settings, options, facts),
            limit=limit,
            max_words=max_words,
            pass_options=note_versions(pass_options, facts),
        )
    )


def note_versions(pass_options: PassOptions, facts: EngineFacts | None) -> PassOptions:
    """The same options, with the versions of this machine, a language model's hardware, and as many rows as keep it busy."""
    if facts is None:
        return replace(pass_options, versions=versions())
    at_once = pass_options.concurrency or facts.at_once(CONCURRENCY_OF_CALLS)
    return replace(pass_options, versions=versions(), machine=facts.machine, concurrency=at_once)


async def extract_file(
    data: Path,
    out: Path,
    open_extractor: Callable[[AsyncExitStack], ClaimExtractor],
    *,
    extractor: Mapping[str, Any],
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    pass_options: PassOptions = DEFAULT_PASS_OPTIONS,
) -> PassSummary:
    """Extracts the claims of every response of a file and writes them beside the response.

    Claims are always extracted anew: an annotator's that came with a response are kept as its `annotation`, and so are its
    passages. Rows that an earlier, interrupted call made are not made again; failed ones are.

    Args:
        data: responses in any schema of inputs/responses.py. limit, max_words: as `read_responses`.
        out: the claims file, to be read by `localfact eval --data`.
        open_extractor: returns the extractor; only called when rows are missing.
        extractor: what decides its claims, as plain values; written into every row, and compared with an earlier call's.
        pass_options: concurrency, progress and so on.

    Raises:
        LocalFactError: one that stops the whole pass. The rows made before are kept.
    """
    responses = read_responses(data, max_words=max_words, limit=limit)
    settings = {"pass": "extract", "data": {"sha256": data_digest(data), "limit": limit}, "extractor": extractor}

    def open_maker(opened: AsyncExitStack) -> Make[Response]:
        return partial(extract_row, extractor=open_extractor(opened), settings=extractor, progress=pass_options.progress)

    rows, warnings = await make_file(data, responses, out, settings, open_maker, response_row, pass_options)
    return extract_summary(out, rows, warnings)


async def extract_row(response: Response, *, extractor: ClaimExtractor, settings: Mapping[str, Any], progress: Progress) -> Row:
    """Extracts the claims of a response; returns its row."""
    ledger = Ledger(watch=partial(observe_usage, progress.count))
    with usage_counted_in(ledger):
        extraction = await extractor.extract(response)
    progress.count("claims", len(extraction.claims))
    return claims_row(response, extraction, settings, ledger.repeatable())


def response_row(response: Response) -> Row:
    """The response as it came, with its passages, sources and annotation, without claims of an extractor."""
    row = present(id=response.id, prompt=response.prompt, topic=response.topic, model=response.model, source=response.source)
    if response.sample is not None:
        row["sample"] = response.sample.model_dump(exclude_none=True)
    if response.text or response.problem is None:
        row["response"] = response.text
    annotation = annotation_rows(response)
    if annotation is not None:
        row["annotation"] = annotation
    if response.evidence is not None:
        row["passages"] = [passage_row(passage) for passage in response.evidence.passages]
    if response.sources is not None and response.sources.sources and not response.sources.of_passages:
        row["sources"] = {one.mark: source_row(one) for one in response.sources.sources}
    return row


def annotation_rows(response: Response) -> list[Row] | None:
    """The annotator's claims with the passages that the input names for each; None without an annotation."""
    if response.annotation is not None:
        return [claim_row(claim) for claim in response.annotation]
    if response.claims is None or all(claim.gold is None for claim in response.claims):
        return None
    named = {} if response.evidence is None else response.evidence.hits
    passages = {claim: {"passages": [hit.passage_id for hit in hits]} for claim, hits in named.items() if hits}
    return [claim_row(claim) | passages.get(claim.id, {}) for claim in response.claims]


def passage_row(passage: Passage) -> Row:
    """A passage that came with a response."""
    row = present(id=passage.id, title=passage.title or None, date=passage.date, text=passage.text)
    return row | ({"links": list(passage.links)} if passage.links else {})


def source_row(source: GivenSource) -> Row | None:
    """A source that the text may cite; None for one of which nothing is known."""
    return present(title=source.title or None, url=source.link, text=source.text) or None


def claims_row(
    response: Response, extraction: Extraction, extractor: Mapping[str, Any], usage: Mapping[str, Mapping[str, float]]
) -> Row:
    """The row of a response with the claims and the other results of an extractor."""
    return response_row(response) | {
        "claims": [claim_row(claim) for claim in extraction.claims],
        "extraction": extraction.model_dump(mode="json", exclude={"claims"}) | {"usage": usage},
        "extractor": dict(extractor),
    }


def extract_summary(out: Path, rows: Sequence[Row], warnings: Sequence[str]) -> PassSummary:
    """The summary of a claims file."""
    made = [row for row in rows if ERROR not in row]
    counts: Counter[str] = Counter()
    usage: dict[str, Counter[str]] = {}
    said: Counter[str] = Counter()
    for row in made:
        counts.update(row["extraction"]["counts"])
        said.update(row["extraction"]["warnings"])
        for stage, sums in row["extraction"]["usage"].items():
            usage.setdefault(stage, Counter()).update(sums)
    counts["claims"] = sum(len(row["claims"]) for row in made)
    counts["abstained"] = sum(not row["claims"] and not row["extraction"].get("unread") for row in made)
    counts["lines_unparsed"] = sum(len(row["extraction"]["unparsed"]) for row in made)
    notes = [f"{sentence} ({number} responses)" if number > 1 else sentence for sentence, number in said.items()]
    return PassSummary(
        out=out,
        rows=len(rows),
        failed=len(rows) - len(made),
        counts=counts,
        usage=usage,
        warnings=(*warnings, *failure_warnings(rows), *notes),
    )
